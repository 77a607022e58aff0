import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseProxy, ProxyUrlError, proxyText, readProxyVariables } from './choose-proxy.ts';

const server = 'https://api.example.com:6443';

const variables: readonly (readonly [string, Record<string, string>, object | undefined])[] = [
  ['finds none', { NO_PROXY: 'x' }, undefined],
  [
    'reads upper case',
    { HTTPS_PROXY: 'a', HTTP_PROXY: 'b', NO_PROXY: 'c' },
    { https: 'a', http: 'b', none: 'c' },
  ],
  ['reads lower case', { https_proxy: 'a', no_proxy: 'c' }, { https: 'a', none: 'c' }],
  ['prefers upper case', { HTTPS_PROXY: 'a', https_proxy: 'b' }, { https: 'a' }],
  [
    'takes lower case where upper case is empty',
    { HTTPS_PROXY: '', https_proxy: 'b' },
    { https: 'b' },
  ],
  ['ignores HTTP_PROXY in a CGI program', { HTTP_PROXY: 'evil', REQUEST_METHOD: 'GET' }, undefined],
];
for (const [what, env, found] of variables) {
  test(`readProxyVariables() ${what}`, () => assert.deepEqual(readProxyVariables(env), found));
}

const chosen: readonly (readonly [
  string,
  Parameters<typeof chooseProxy>[0],
  string | undefined,
])[] = [
  ['none without any', { server }, undefined],
  [
    'that of the kubeconfig',
    { server, proxyUrl: 'http://p:3128', proxyVariables: { https: 'q' } },
    'http://p:3128',
  ],
  [
    'that of the kubeconfig for loopback',
    { server: 'https://127.0.0.1:1', proxyUrl: 'socks5://p' },
    'socks5://p:1080',
  ],
  ['that of the variable', { server, proxyVariables: { https: 'https://p' } }, 'https://p:443'],
  [
    'one without a scheme as HTTP',
    { server, proxyVariables: { https: 'p:8080' } },
    'http://p:8080',
  ],
  ['socks5h as SOCKS5', { server, proxyVariables: { https: 'socks5h://p' } }, 'socks5://p:1080'],
  ['an IPv6 proxy', { server, proxyUrl: 'http://[fd00::1]:3128' }, 'http://[fd00::1]:3128'],
  ['HTTP_PROXY only for HTTP', { server, proxyVariables: { http: 'p' } }, undefined],
  ['HTTP_PROXY for HTTP', { server: 'http://api', proxyVariables: { http: 'p' } }, 'http://p:80'],
  [
    'none for localhost',
    { server: 'https://localhost', proxyVariables: { https: 'p' } },
    undefined,
  ],
  ['none for loopback', { server: 'https://127.8.0.1', proxyVariables: { https: 'p' } }, undefined],
  [
    'none for IPv6 loopback',
    { server: 'https://[::1]:1', proxyVariables: { https: 'p' } },
    undefined,
  ],
];
for (const [what, options, found] of chosen) {
  test(`chooseProxy() chooses ${what}`, () => {
    const proxy = chooseProxy(options);
    assert.equal(proxy === undefined ? undefined : proxyText(proxy), found);
  });
}

test('chooseProxy() reads the login, with its percent encoding', () => {
  assert.deepEqual(chooseProxy({ server, proxyUrl: 'http://me:p%40ss@p:1' })?.login, {
    user: 'me',
    password: 'p@ss',
  });
});

const exempt: readonly (readonly [string, string, boolean])[] = [
  [server, '*', true],
  [server, 'example.com', true],
  [server, 'api.example.com', true],
  [server, 'API.Example.COM', true],
  [server, '.example.com', true],
  [server, '*.example.com', true],
  [server, 'ample.com', false],
  [server, '.api.example.com', false],
  [server, 'api.example.com:6443', true],
  [server, 'api.example.com:443', false],
  [server, 'other , api.example.com', true],
  ['https://api.example.com', 'api.example.com:443', true],
  ['https://10.1.2.3:6443', '10.0.0.0/8', true],
  ['https://10.1.2.3:6443', '11.0.0.0/8', false],
  ['https://10.1.2.3:6443', '10.1.2.3', true],
  ['https://10.1.2.3:6443', '10.1.2.3:6443', true],
  ['https://10.1.2.3:6443', '10.1.2.3:1', false],
  ['https://[fd00::1]:6443', 'fd00::/8', true],
  ['https://[fd00::1]:6443', 'fd00:0::1', true],
  ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
  ['https://[fd00::1]:6443', '[fd00::1]:1', false],
];
for (const [target, none, isExempt] of exempt) {
  test(`chooseProxy() with NO_PROXY=${none} ${isExempt ? 'goes directly' : 'does not go directly'} to ${target}`, () => {
    const proxy = chooseProxy({ server: target, proxyVariables: { https: 'p', none } });
    assert.equal(proxy === undefined, isExempt);
  });
}

const refused: readonly (readonly [string, RegExp])[] = [
  ['ftp://p', /proxy-url of the kubeconfig: its scheme is "ftp", want http, https or socks5/],
  ['http://secret@:x', /it is not a URL/],
  ['socks5:///', /it has no host/],
];
for (const [proxyUrl, why] of refused) {
  test(`chooseProxy() refuses ${proxyUrl}, and does not repeat it`, () => {
    assert.throws(
      () => chooseProxy({ server, proxyUrl }),
      (error) =>
        error instanceof ProxyUrlError && why.test(error.message) && !/secret/.test(error.message),
    );
  });
}
