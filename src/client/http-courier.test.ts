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

  test('a public address is fine, and private ones where they are allowed', async () => {
    await strict.check('https://93.184.216.34/hook');
    await httpCourier({ allowPrivate: true }).check('http://127.0.0.1:1/hook');
  });
});
