import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imagesStatus } from './images-status.ts';

describe('imagesStatus()', () => {
  it('has the largest images first, digests before tags', () => {
    const small = { names: ['docker.io/library/b:1'], digests: [], sizeBytes: 1 };
    const large = { names: ['x/a:1'], digests: ['x/a@sha256:1'], sizeBytes: 2 };
    assert.deepEqual(imagesStatus([small, large]), [
      { names: ['x/a@sha256:1', 'x/a:1'], sizeBytes: 2 },
      { names: ['docker.io/library/b:1'], sizeBytes: 1 },
    ]);
  });

  it('has at most 50 images with 5 names', () => {
    const names = Array.from({ length: 9 }, (_, index) => `x/a:${index}`);
    const images = Array.from({ length: 60 }, (_, sizeBytes) => ({
      names,
      digests: [],
      sizeBytes,
    }));
    const found = imagesStatus(images);
    assert.equal(found.length, 50);
    assert.equal(found[0]?.sizeBytes, 59);
    assert.equal(found[0]?.names.length, 5);
  });
});
