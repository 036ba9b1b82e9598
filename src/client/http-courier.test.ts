import { describe, expect, test } from 'vitest';
import { httpCourier } from './http-courier.js';

describe('where callbacks may go', () => {
  const strict = httpCourier({ allowPrivate: false });

  test.each([
    'not a url',
    'http://93.184.216.34/',
    'ftp://93.184.216.34/',
    'https://user:secret@93.184.216.34/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[fe80::1]/',
    'https://[fec0::1]/',
    'https://[::127.0.0.1]/',
    'https://[2002:7f00:1::]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2001::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://nowhere.invalid/',
  ])('CALLBACK_URL_INVALID when it is made: %s', async (url) => {
    await expect(strict.check(url)).rejects.toMatchObject({ code: 'CALLBACK_URL_INVALID' });
  });

  test.each([
    ['https://us3r:s3cret@example.com/', 'https://***@example.com/'],
    ['https://s3cret@example.com/a', 'https://***@example.com/a'],
    ['http://us3r:s3cret@example.com/', 'http://***@example.com/'],
    ['https://us3r:s3cr/et@example.com/', 'https://***@example.com/'],
    ['https://10.1.2.3/?token=s3cret', 'https://10.1.2.3/?token=***'],
  ])('the error does not show what is secret in it: %s', async (url, shown) => {
    const error = await strict.check(url).catch((refused: unknown) => refused);
    expect(error).toMatchObject({ code: 'CALLBACK_URL_INVALID', details: { field: 'url' } });
    expect(String(error)).toContain(`"${shown}"`);
    expect(String(error)).not.toMatch(/s3cr|us3r/);
  });

  test('a public address is fine, and private ones where they are allowed', async () => {
    await strict.check('https://93.184.216.34/hook');
    await httpCourier({ allowPrivate: true }).check('http://127.0.0.1:1/hook');
  });
});
