import { expect, test } from 'vitest';
import { withoutPassword } from './without-password.js';

test.each([
  ['postgres://u:s3cret@host/db', 'postgres://u:***@host/db'],
  ['postgres://:s3cret@host/db', 'postgres://:***@host/db'],
  ['postgres://u:s3@cret@host:5432/db', 'postgres://u:***@host:5432/db'],
  ['postgres://u:s3:cret@host', 'postgres://u:***@host'],
  ['postgres://u:s3%2Fcret@host/db?sslmode=require', 'postgres://u:***@host/db?sslmode=require'],
  ['mysql://u:s3cret@host/db', 'mysql://u:***@host/db'],
  ['https://u:s3cret@host/', 'https://u:***@host/'],
])('a password before the host is not shown: %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

test.each([
  ['postgres://h/db?user=u&password=s3cret', 'postgres://h/db?user=u&password=***'],
  ['postgres://h/db?password=s3cret#s3cret&user=u', 'postgres://h/db?password=***'],
  ['postgres://h/db?p%61ssword=s3cret&user=u', 'postgres://h/db?p%61ssword=***&user=u'],
  ['postgres://h/db?sslmode=require?password=s3cret', 'postgres://h/db?sslmode=require?password=***'],
  ['postgres://h/db?sslkey=k.pem&sslpassword=s3cret', 'postgres://h/db?sslkey=k.pem&sslpassword=***'],
  ['postgres:///db?host=/run&PASSPHRASE=s3cret', 'postgres:///db?host=/run&PASSPHRASE=***'],
  ['postgres://u:s3cret@h/db?oauth_client_secret=s3cret', 'postgres://u:***@h/db?oauth_client_secret=***'],
])('a password behind it is not shown either: %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

test.each([
  ['postgres://u:s3#cret@host/db', 'postgres://***@host/db'],
  ['postgres://u:12#s3cret@host/db', 'postgres://***@host/db'],
  ['postgres://u:12/s3cret@host/db', 'postgres://***@host/db'],
  ['postgres://u:12?s3cret@host/db', 'postgres://***@host/db'],
  ['postgres://u:s3cret@/db', 'postgres://***@/db'],
  ['postgres:u:s3cret@host', 'postgres:***@host'],
  ['u:s3cret@host', 'u:***@host'],
  ['postgres://u:x?password=s3@cret@host/db', 'postgres://***'],
  ['postgres://h/db?user=u@corp&password=s3@cret', 'postgres://***'],
  ["host=h user=u password='s3 cret'", '***'],
])('where nobody can tell what belongs to it, more is hidden: %s', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

test.each([
  'memory:',
  'sqlite:pawl.db',
  'sqlite:///srv/me:you@work/password=1.db',
  'postgres://host/db?sslmode=require&prepare=false',
  'postgres://user@host:5432/db',
  'https://jobs.example.com',
  '/var/lib/pawl.db',
  '',
])('what has none is shown as it is: %j', (url) => {
  expect(withoutPassword(url)).toBe(url);
});
