import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mappedImage, parseImageMap } from './image-map.ts';

const map = parseImageMap(`
images:
  nginx: { command: [node, web.js], env: { PORT: 80 } }
  registry.example:5000/app: { root: /srv/app }
`);

const cases: readonly (readonly [string, unknown])[] = [
  ['nginx', { command: ['node', 'web.js'], variables: { PORT: '80' } }],
  ['nginx:1.27', { command: ['node', 'web.js'], variables: { PORT: '80' } }],
  ['registry.example:5000/app@sha256:00', { root: '/srv/app', variables: {} }],
  ['registry.example:5000/other', undefined],
  ['constructor', undefined],
];
for (const [name, expected] of cases) {
  test(`mappedImage() of ${name}`, () => assert.deepEqual(mappedImage(map, name), expected));
}

test('parseImageMap() reports invalid entries', () => {
  assert.throws(() => parseImageMap('images: {a: {command: x}}'), /"command" of image "a"/);
  assert.throws(() => parseImageMap('images: {a: {root: x}}'), /"root" of image "a"/);
  assert.throws(() => parseImageMap('images: [a]'), /must be a map/);
  assert.deepEqual(parseImageMap(''), {});
});
