import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isImageError } from './image-error.ts';
import { parseReference, referenceText } from './parse-reference.ts';

const hex = 'a'.repeat(64);

const names: Readonly<Record<string, string>> = {
  nginx: 'docker.io/library/nginx:latest',
  'nginx:stable': 'docker.io/library/nginx:stable',
  'team/app': 'docker.io/team/app:latest',
  'index.docker.io/nginx:1': 'docker.io/library/nginx:1',
  'docker.io/nginx': 'docker.io/library/nginx:latest',
  'localhost/app': 'localhost/app:latest',
  'localhost:5000/app:1': 'localhost:5000/app:1',
  'registry.example/a/b/c:v1.2-x_y': 'registry.example/a/b/c:v1.2-x_y',
  '[::1]:5000/app': '[::1]:5000/app:latest',
  '127.0.0.1:5000/app': '127.0.0.1:5000/app:latest',
  'Registry/app': 'Registry/app:latest',
  'a__b/c--d.e_f': 'docker.io/a__b/c--d.e_f:latest',
  [`nginx@sha256:${hex}`]: `docker.io/library/nginx@sha256:${hex}`,
  [`nginx:1@sha256:${hex}`]: `docker.io/library/nginx@sha256:${hex}`,
  [`${'a'.repeat(237)}`]: `docker.io/library/${'a'.repeat(237)}:latest`,
};

/** Plain ASCII names are quoted alike by Go and JSON. */
const refused: Readonly<Record<string, string>> = {
  '': 'invalid reference format',
  Nginx: 'invalid reference format: repository name (library/Nginx) must be lowercase',
  'registry.example/Team/app':
    'invalid reference format: repository name (Team/app) must be lowercase',
  [hex]: `invalid repository name (${hex}), cannot specify 64-byte hexadecimal strings`,
  'nginx:': 'invalid reference format',
  'nginx:.x': 'invalid reference format',
  [`nginx:${'x'.repeat(129)}`]: 'invalid reference format',
  ' nginx': 'invalid reference format',
  'nginx\n': 'invalid reference format',
  '../nginx': 'invalid reference format',
  'a//b': 'invalid reference format',
  'a/../b': 'invalid reference format',
  a___b: 'invalid reference format',
  '-a': 'invalid reference format',
  'https://registry.example/app': 'invalid reference format',
  'registry.example:port/app': 'invalid reference format',
  'nginx@sha256:abc': 'invalid reference format',
  [`nginx@sha256:${hex}00`]: 'invalid checksum digest length',
  [`nginx@sha512:${hex}${hex}`]: 'unsupported digest algorithm',
  [`nginx@sha256:${hex.toUpperCase()}`]: 'invalid checksum digest length',
  ['a'.repeat(238)]: 'repository name must not be more than 255 characters',
};

describe('parseReference()', () => {
  for (const [name, full] of Object.entries(names)) {
    it(`reads ${name.slice(0, 40)}`, () => {
      assert.equal(referenceText(parseReference(name)), full);
      assert.equal(referenceText(parseReference(full)), full);
    });
  }

  for (const [name, why] of Object.entries(refused)) {
    it(`refuses ${JSON.stringify(name.slice(0, 40))}`, () => {
      assert.throws(
        () => parseReference(name),
        (error) =>
          isImageError(error, 'InvalidArgument') &&
          error.reason === 'InvalidImageName' &&
          error.message === `couldn't parse image name ${JSON.stringify(name)}: ${why}`,
      );
    });
  }

  it('does not repeat a name that is too long', () => {
    assert.throws(
      () => parseReference('x'.repeat(1_000_000)),
      (error) => error instanceof Error && error.message.length < 200,
    );
  });
});
