import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rewriteHtml, rewriteLink } from './rewrite-links.ts';

const location = { prefix: '/p/proxy', hosts: ['10.0.0.1:80', 'server:6443'] };

const links: readonly [string, string][] = [
  ['/a?b#c', '/p/proxy/a?b#c'],
  ['/', '/p/proxy/'],
  ['a/b', 'a/b'],
  ['', ''],
  ['#x', '#x'],
  ['http://10.0.0.1:80/a', '/p/proxy/a'],
  ['//server:6443/a/', '/p/proxy/a/'],
  ['https://elsewhere/a', 'https://elsewhere/a'],
  ['/p/proxy/a', '/p/proxy/a'],
  ['/p/proxying', '/p/proxy/p/proxying'],
  ['mailto:a@b', 'mailto:a@b'],
];

for (const [link, expected] of links) {
  test(`rewriteLink() makes of ${JSON.stringify(link)} (PXY-07)`, () => {
    assert.equal(rewriteLink(link, location), expected);
  });
}

const pages: readonly [string, string, string][] = [
  ['a quoted link', '<a href="/x">/x</a>', '<a href="/p/proxy/x">/x</a>'],
  ['other quotes', "<img alt=x SRC = '/x'>", "<img alt=x SRC = '/p/proxy/x'>"],
  ['no quotes', '<script src=/x></script>', '<script src=/p/proxy/x></script>'],
  [
    'two in one tag',
    '<video src="/a" poster="/b">',
    '<video src="/p/proxy/a" poster="/p/proxy/b">',
  ],
  ['an end in quotes', '<a title=">" href="/x">', '<a title=">" href="/p/proxy/x">'],
  ['text that looks like one', 'a < b href="/x"', 'a < b href="/x"'],
  ['a comment', '<!-- x --><a href="/x">', '<!-- x --><a href="/p/proxy/x">'],
  ['a tag without end', '<a href="/x"', '<a href="/x"'],
  ['data attributes', '<a data-href="/x">', '<a data-href="/x">'],
];

for (const [name, html, expected] of pages) {
  test(`rewriteHtml() reads ${name} (PXY-07)`, () => {
    assert.equal(rewriteHtml(html, location), expected);
  });
}

test('rewriteHtml() reads a hostile page once', () => {
  const page = '<a '.repeat(500_000);
  assert.equal(rewriteHtml(page, location), page);
});
