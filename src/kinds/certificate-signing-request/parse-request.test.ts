import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCertificateRequest, parseRequestField } from './parse-request.ts';

/** Made by openssl, so that reader and writer are not by the same hand. */
const ofNode =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQnJqQ0NBUmNDQVFBd0x6RVZNQk1HQTFVRUNnd01jM2x6ZEdWdE9tNXZaR1Z6TVJZd0ZBWURWUVFEREExegplWE4wWlcwNmJtOWtaVHBoTUlHZk1BMEdDU3FHU0liM0RRRUJBUVVBQTRHTkFEQ0JpUUtCZ1FEZk96bUlxSnh2CmIxcDNLU3BuREhJKzZiRmMxRWJYQzdXK3p1ZEhxc0FnSmt2bTFkd0RwMGcyZGtCSFk3a2VGMU81dVFrWWdoa3AKbWFwUVBtOFdJU0hVakpneEpZTmIzZzMzNGhNWDIwZFllYjNpYTVWNmJ3Wm1YK2hEKzdENGxYa2VUQUtudTFoQQpSUUFKOU0vN2JYa0ZMQjZjUndEWFRlWUhBdnpyZkIvVzR3SURBUUFCb0Q4d1BRWUpLb1pJaHZjTkFRa09NVEF3CkxqQXNCZ05WSFJFRUpUQWpnZ2xoTG1WNFlXMXdiR1dIQkFvQUFBR0hFUDBBQUFBQUFBQUFBQUFBQUFBQUFBRXcKRFFZSktvWklodmNOQVFFTEJRQURnWUVBejdpT2NCZUpVZStUenVoVXpXNE9TY0tOZncyQ3psdjRTdEJRTUJJbQo1UmtXTlZlbWw2KzlKcGJ1a1B4dVA1VWpHMGtSdUs3YWw2Y3B4dnUrbUlmaHArckZzQkRRdDc2K3A5V05wdEhiCnFjZU1nVTM4b2huQ0JOR1RGTFRwUENLT1BNcTlQVU5DV3ZBdzlXL2dGVGlsVFJKOThYSmNqS0VTaENSOWR3OHkKTUhVPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const ofPerson =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQmV6Q0I1UUlCQURBWk1Rc3dDUVlEVlFRR0V3SkVSVEVLTUFnR0ExVUVBd3dCZURDQm56QU5CZ2txaGtpRwo5dzBCQVFFRkFBT0JqUUF3Z1lrQ2dZRUEzenM1aUtpY2IyOWFkeWtxWnd4eVB1bXhYTlJHMXd1MXZzN25SNnJBCklDWkw1dFhjQTZkSU5uWkFSMk81SGhkVHVia0pHSUlaS1ptcVVENXZGaUVoMUl5WU1TV0RXOTROOStJVEY5dEgKV0htOTRtdVZlbThHWmwvb1EvdXcrSlY1SGt3Q3A3dFlRRVVBQ2ZUUCsyMTVCU3dlbkVjQTEwM21Cd0w4NjN3ZgoxdU1DQXdFQUFhQWpNQ0VHQ1NxR1NJYjNEUUVKRGpFVU1CSXdFQVlEVlIwUkJBa3dCNEVGWVVCaUxtTXdEUVlKCktvWklodmNOQVFFTEJRQURnWUVBUUFVV2xyaFc3TXQzNzloeFNXRENsUWRSL0kyUjZtMEFxeDBaOWFxdHVuS2MKSDEvSktCWGQ4VHlVZ3RXVkRZNG83YTdiNGdLMjdOdEc2QVNTbWVzYi9tNUcvL1ZZWVQwVVpYRHB3QzFkMmw0dQpCaHVSVFFsc3RoSCtQZTQzZUIyWEZUQzEwbXVWY3piOGk1bENJOFc5SlMxM052NjhjbEIrRCsyK1FCU0xGdGM9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

const ofTwo =
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkFqQ0JxQUlCQURCR01SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14RlRBVEJnTlZCQU1NREhONQpjM1JsYlRwaFpHMXBiakVXTUJRR0ExVUVBd3dOYzNsemRHVnRPbTV2WkdVNllUQlpNQk1HQnlxR1NNNDlBZ0VHCkNDcUdTTTQ5QXdFSEEwSUFCRENGbHI5Qko1OEpuek04ZzJXUWtnNElkRFRzcWxmU0xKdzZJVDdBdnMycUduWHkKRW0wbVlNVEdoMHhuR21yQk0rWDc0MGt2SmRtVldnN2hlTmZhekcyZ0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCRwpBaUVBbHBpU1c5T3YrRWJER0YrRFcxUC9CTGJjQURhUlUxZDhEN2QzS1pzUkFJQUNJUURHcnZlSEVUR3V2ZWhPCkptQitvSm1GUUdCWC9RdXI2dVNRbm04eWtPbFhCQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

test('parseRequestField() reads subject, names and key', () => {
  const read = parseRequestField(ofNode);
  assert.ok(read);
  const { publicKey, signed, signature, addresses, ...plain } = read;
  assert.deepEqual(plain, {
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    hasOtherSubject: false,
    dnsNames: ['a.example'],
    hasOtherNames: false,
    signatureAlgorithm: '1.2.840.113549.1.1.11',
  });
  assert.deepEqual(
    addresses.map((bytes) => Buffer.from(bytes).toString('hex')),
    ['0a000001', 'fd000000000000000000000000000001'],
  );
  assert.equal(signature.length, 128);
  assert.ok(publicKey.length > 128 && signed.length > publicKey.length);
});

test('parseRequestField() reports other attributes and names', () => {
  const read = parseRequestField(ofPerson);
  assert.deepEqual([read?.hasOtherSubject, read?.hasOtherNames], [true, true]);
});

test('parseRequestField() reports two common names', () => {
  const { commonName, hasOtherSubject } = parseRequestField(ofTwo) ?? {};
  assert.deepEqual([commonName, hasOtherSubject], ['system:node:a', true]);
});

test('malformed bytes give undefined', () => {
  const pem = Buffer.from(ofNode, 'base64').toString('latin1');
  const body = pem.split('\n').slice(1, -2).join('');
  const whole = new Uint8Array(Buffer.from(body, 'base64'));
  assert.ok(parseCertificateRequest(whole));
  for (let length = 0; length < whole.length; length += 1) {
    assert.equal(parseCertificateRequest(whole.subarray(0, length)), undefined, String(length));
  }
  // Any one byte may be wrong: it is read or not, and nothing is thrown.
  for (let at = 0; at < whole.length; at += 1) {
    const damaged = Uint8Array.from(whole);
    damaged[at] = (damaged[at] ?? 0) ^ 0xff;
    parseCertificateRequest(damaged);
  }
  assert.equal(parseRequestField(''), undefined);
  assert.equal(parseRequestField(Buffer.from('no pem').toString('base64')), undefined);
});
