import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as names from './names.ts';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const configKey =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const x = (count: number): string => 'x'.repeat(count);

type Case = readonly [(value: string) => readonly string[], string, readonly string[]];

const cases: readonly Case[] = [
  [names.dns1123Label, 'a-1', []],
  [names.dns1123Label, '1', []],
  [names.dns1123Label, 'a_b', [label]],
  [names.dns1123Label, '', [label]],
  [names.dns1123Label, 'a-', [label]],
  [names.dns1123Label, 'a.b', ['must not contain dots']],
  [names.dns1123Label, x(64), ['must be no more than 63 characters']],
  [names.dns1123Label, 'a\n', [label]],
  [names.dns1123Subdomain, 'a.b-c.1', []],
  [names.dns1123Subdomain, 'A', [subdomain]],
  [names.dns1123Subdomain, 'a..b', [subdomain]],
  [names.dns1123Subdomain, x(254), ['must be no more than 253 characters']],
  [names.dns1123SubdomainCaseless, 'Example.COM', []],
  [names.dns1035Label, 'a1', []],
  [
    names.dns1035Label,
    '1a',
    [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [names.qualifiedName, 'app', []],
  [names.qualifiedName, 'example.com/My.Name_1', []],
  [names.qualifiedName, 'a b', [namePart]],
  [names.qualifiedName, '', ['name part must be non-empty', namePart]],
  [names.qualifiedName, '/a', ['prefix part must be non-empty']],
  [names.qualifiedName, 'Bad.Example/x', [`prefix part ${subdomain}`]],
  [names.qualifiedName, x(64), ['name part must be no more than 63 bytes']],
  [
    names.qualifiedName,
    'a/b/c',
    [
      `${namePart.replace('name part', 'a valid label key')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  ],
  [names.labelValue, '', []],
  [names.labelValue, 'My_value.1', []],
  [names.labelValue, x(64), ['must be no more than 63 bytes']],
  [
    names.labelValue,
    'not ok',
    [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [names.pathSegmentName, 'system:a b', []],
  [names.pathSegmentName, '..', ["may not be '..'"]],
  [names.pathSegmentName, 'a'.repeat(1_200), []],
  [names.pathSegmentName, 'a'.repeat(1_201), ['must be no more than 1200 bytes']],
  [names.pathSegmentName, 'a/b%c', ["may not contain '/'", "may not contain '%'"]],
  [names.configMapKey, 'KEY.name', []],
  [names.configMapKey, '', [configKey]],
  [names.configMapKey, '.', ["must not be '.'"]],
  [names.configMapKey, '..a', ["must not start with '..'"]],
  [names.configMapKey, 'a b', [configKey]],
  [names.portName, 'http', []],
  [
    names.portName,
    'BAD',
    [
      'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'must contain at least one letter (a-z)',
    ],
  ],
  [names.portName, '8080', ['must contain at least one letter (a-z)']],
  [names.portName, 'a--b', ['must not contain consecutive hyphens']],
  [names.portName, '-a', ['must not begin or end with a hyphen']],
  [names.portName, 'longer-than-15-chars', ['must be no more than 15 characters']],
  [names.wildcardDns1123Subdomain, '*.example.com', []],
  [names.envVarName, 'my.ENV-1', []],
  [names.relaxedEnvVarName, '1 a', []],
  [names.relaxedEnvVarName, '', ['environment variable name must be non-empty']],
  [names.httpHeaderName, 'X-Header', []],
  [names.cIdentifier, '_a1', []],
  [names.fullyQualifiedName, 'a.b.c', []],
  [
    names.fullyQualifiedName,
    'a.b',
    ['should be a domain with at least three segments separated by dots'],
  ],
  [names.domainPrefixedPath, 'acme.io/foo/bar', []],
  [names.domainPrefixedPath, 'foo', ['must be a domain-prefixed path (such as "acme.io/foo")']],
];

for (const [rule, value, expected] of cases) {
  test(`${rule.name}() of "${value.slice(0, 30)}"`, () => assert.deepEqual(rule(value), expected));
}

test('portNumber() accepts 1 to 65535', () => {
  assert.deepEqual(names.portNumber(1), []);
  assert.deepEqual(names.portNumber(65535), []);
  assert.deepEqual(names.portNumber(0), ['must be between 1 and 65535, inclusive']);
  assert.deepEqual(names.portNumber(65536), ['must be between 1 and 65535, inclusive']);
});

test('name rules accept a trailing dash in a prefix', () => {
  assert.deepEqual(names.nameIsDnsLabel('web-', true), []);
  assert.deepEqual(names.nameIsDnsLabel('web-', false), [label]);
  assert.deepEqual(names.nameIsDnsSubdomain('web.a-', true), []);
  assert.deepEqual(names.nameIsDnsLabel('-', true), [label]);
  assert.deepEqual(names.nameIsPathSegment('..', true), []);
  assert.deepEqual(names.nameIsPathSegment('..', false), ["may not be '..'"]);
});
