import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { isValidAt, readClientCertificate } from './client-certificate.ts';

const bounds = { notBeforeMs: 10_000, notAfterMs: 20_000 };
const times: readonly (readonly [string, number, boolean])[] = [
  ['before notBefore', 9_999, false],
  ['at notBefore', 10_000, true],
  ['in the second of notAfter', 20_999, true],
  ['after notAfter', 21_000, false],
  ['at an invalid time', Number.NaN, false],
];

for (const [title, now, expected] of times) {
  test(`isValidAt() is ${expected} ${title}`, () => assert.equal(isValidAt(bounds, now), expected));
}

test('isValidAt() is false for bounds that could not be parsed', () => {
  assert.equal(isValidAt({ notBeforeMs: Number.NaN, notAfterMs: 20_000 }, 15_000), false);
  assert.equal(isValidAt({ notBeforeMs: 10_000, notAfterMs: Number.NaN }, 15_000), false);
});

// Made by openssl, because this program makes no such subjects: base64 of certificates signed by their own keys.
const cases: readonly (readonly [name: string, base64: string, wanted: unknown])[] = [
  // /O=a/O=b/CN=jane
  [
    'a name and groups',
    'MIIBpDCCAUugAwIBAgIUWZn9C2I4OwR7xFNUA1RpY0C4ZkYwCgYIKoZIzj0EAwIwJzEKMAgGA1UECgwBYTEKMAgGA1UECgwBYjENMAsGA1UEAwwEamFuZTAgFw0yNjExMTgxMzE3MDFaGA8yMTI2MTAyNTEzMTcwMVowJzEKMAgGA1UECgwBYTEKMAgGA1UECgwBYjENMAsGA1UEAwwEamFuZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMAHZz8uym/VQjTtmTkTNe0s8uVR9pnwO3h89AGYC7qto7v6QXHnxhyZ+L/xEkqJta44L310Dt/j1zUXu8udHhajUzBRMB0GA1UdDgQWBBQio0XcSy0oNrFsF2dsFU/BgR9jSTAfBgNVHSMEGDAWgBQio0XcSy0oNrFsF2dsFU/BgR9jSTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIF+q0kMYD5MOckwpLruZRInMlc0gObNZeQ6NBPUDVfmOAiAVZjLJdLtOvIfjTyIQ+mOJCkYoTwERWQ9gyTyhAS47lA==',
    ['jane', ['a', 'b']],
  ],
  // /C=DE/OU=x/CN=jane
  [
    'other attributes beside',
    'MIIBpzCCAU2gAwIBAgIUIlHAUhFnMCwIJ6fvMmrRzwoejBMwCgYIKoZIzj0EAwIwKDELMAkGA1UEBhMCREUxCjAIBgNVBAsMAXgxDTALBgNVBAMMBGphbmUwIBcNMjYxMTE4MTMxNzAxWhgPMjEyNjEwMjUxMzE3MDFaMCgxCzAJBgNVBAYTAkRFMQowCAYDVQQLDAF4MQ0wCwYDVQQDDARqYW5lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaSe6Nvs2QuqIS3/PVz0FPPzW2kupCSUuHCp9mY0fBgIVJEnNdQnmEvGnMNcromXexqGB3ezjWGyyXUWsS3bBy6NTMFEwHQYDVR0OBBYEFEyWSOCtJP/69GEI28HToS3QniZ4MB8GA1UdIwQYMBaAFEyWSOCtJP/69GEI28HToS3QniZ4MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAODWD+UZursszBkyoRreNO+V3fLR2wZ2K77psZA1kpKiAiASKGOJIl26cBsNYFqUIoGTRHTiywwaGqBZdP5YeRzW3A==',
    ['jane', []],
  ],
  // /O=system:masters
  [
    'no name',
    'MIIBijCCAS+gAwIBAgIUCZ+ONh1QRn0oAGuc6Id7EdNOiIYwCgYIKoZIzj0EAwIwGTEXMBUGA1UECgwOc3lzdGVtOm1hc3RlcnMwIBcNMjYxMTE4MTMxNzAxWhgPMjEyNjEwMjUxMzE3MDFaMBkxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfVs20mw2x9770t3uLD/j0VhnoHM0ooVHW7xf0DZtSQUaU/ZNUrmI/3n+X9WfKjIGYZTviCO+xnbh+oFteg5T4qNTMFEwHQYDVR0OBBYEFKGGYT1oHzsCSJ4ano9D4H6gVdvGMB8GA1UdIwQYMBaAFKGGYT1oHzsCSJ4ano9D4H6gVdvGMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAN3jIWNVWod1NZQqyBWixkgqEEbhAwmOeRcZ2DL1VJt8AiEA2I2JbNyWfjSnYjHNlAu8MLq5OmeujXQPplOC4gxwj5c=',
    'none',
  ],
  // /CN=jane/CN=root
  [
    'two names',
    'MIIBlDCCATmgAwIBAgIUQ7sdQh1r0uatFWjkWputrIkVcAAwCgYIKoZIzj0EAwIwHjENMAsGA1UEAwwEamFuZTENMAsGA1UEAwwEcm9vdDAgFw0yNjExMTgxMzE3MDFaGA8yMTI2MTAyNTEzMTcwMVowHjENMAsGA1UEAwwEamFuZTENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH7tZ8Jtl5jVw8rBpJcUcS0vAJtE9VohKace6A0V9v/C1Htaztf84hK/zESdSxgMeHrh7JdSfj2PEQRSI1cYTuyjUzBRMB0GA1UdDgQWBBTO4Pv8zixD0+cGRnah2bOeDuRvdDAfBgNVHSMEGDAWgBTO4Pv8zixD0+cGRnah2bOeDuRvdDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQC+im/Vcx0zqX8EA6ACGto8j+zDoUfHNPFgEj/IOK4PrQIhAPblkQplbDWkka4MNWi4AZMO7SOCvW//8aSIrVI3LiVA',
    'several',
  ],
];
for (const [name, base64, wanted] of cases) {
  test(`readClientCertificate() with ${name}`, () => {
    const found = readClientCertificate(new X509Certificate(Buffer.from(base64, 'base64')));
    const names = typeof found === 'string' ? found : [found.commonName, found.organizations];
    assert.deepEqual(names, wanted);
  });
}
