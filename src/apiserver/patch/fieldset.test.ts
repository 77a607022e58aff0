import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmptySet,
  isSubset,
  memberPaths,
  parseFieldSet,
  printFieldSet,
  sameSet,
  union,
  unionAll,
  withoutPath,
} from './fieldset.ts';

const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
};

type Path = string;

/** The set of these paths, built by brute force: `f:a/k:{"p":1}`. */
function setOf(paths: Iterable<Path>): FieldSet {
  type Tree = { [element: string]: Tree };
  const root: Tree = {};
  const isMember = new Set<Tree>();
  for (const path of paths) {
    let node = root;
    for (const element of path.split('/')) node = node[element] ??= {};
    isMember.add(node);
  }
  const print = (node: Tree): FieldSet => {
    const children = Object.entries(node).map(
      ([element, below]) => [element, print(below)] as const,
    );
    const self = isMember.has(node) && children.length > 0 ? [['.', {}] as const] : [];
    return Object.fromEntries([...self, ...children]);
  };
  return print(root);
}

function pathsOf(set: FieldSet, prefix = ''): readonly Path[] {
  return Object.entries(set).flatMap(([element, node]) => {
    if (element === '.') return [];
    const path = prefix + element;
    const isMember = isEmptySet(node) || '.' in node;
    return [...(isMember ? [path] : []), ...pathsOf(node, `${path}/`)];
  });
}

const elements = ['f:a', 'f:b', 'k:{"p":1}', 'k:{"p":2}', 'v:"x"'];

function randomPaths(next: () => number): ReadonlySet<Path> {
  const paths = new Set<Path>();
  for (let i = Math.floor(next() * 12); i > 0; i -= 1) {
    const length = 1 + Math.floor(next() * 3);
    const path = Array.from({ length }, () => elements[Math.floor(next() * elements.length)]);
    paths.add(path.join('/'));
  }
  return paths;
}

const sorted = (paths: Iterable<Path>): readonly Path[] => [...paths].sort();

describe('field sets', () => {
  it('obey the algebra of sets of paths, seeds 1 to 400', () => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const next = random(seed);
      const [x, y] = [randomPaths(next), randomPaths(next)];
      const [a, b] = [setOf(x), setOf(y)];
      const text = JSON.stringify([a, b]);
      assert.deepEqual(sorted(pathsOf(a)), sorted(x), text);
      assert.deepEqual(sorted(pathsOf(union(a, b))), sorted(new Set([...x, ...y])), text);
      assert.deepEqual(
        sorted(pathsOf(intersection(a, b))),
        sorted([...x].filter((p) => y.has(p))),
        text,
      );
      assert.deepEqual(
        sorted(pathsOf(difference(a, b))),
        sorted([...x].filter((p) => !y.has(p))),
        text,
      );
      assert.equal(
        isSubset(a, b),
        [...x].every((p) => y.has(p)),
        text,
      );
      assert.ok(sameSet(union(difference(a, b), intersection(a, b)), a), text);
      assert.ok(sameSet(union(a, b), union(b, a)), text);
      assert.deepEqual(parseFieldSet(printFieldSet(a)), a, text);
      assert.equal(JSON.stringify([a, b]), text, 'operands stay as they are');
    }
  });

  it('unite many at once as one after the other, seeds 1 to 200', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const next = random(seed);
      const sets = Array.from({ length: 5 }, () => setOf(randomPaths(next)));
      const text = JSON.stringify(sets);
      assert.ok(sameSet(unionAll(sets), sets.reduce(union, emptySet)), text);
      assert.equal(JSON.stringify(sets), text, 'operands stay as they are');
    }
  });

  it('return the operand itself where nothing changes', () => {
    const a = setOf(['f:a', 'f:b/f:c']);
    assert.equal(union(a, setOf(['f:b/f:c'])), a);
    assert.equal(union(a, emptySet), a);
    assert.equal(difference(a, setOf(['f:x', 'f:a/f:b'])), a);
    assert.equal(withoutPath(a, ['x']), a);
    assert.equal(withoutPath(a, ['b', 'x']), a);
  });

  it('lose a path with all below it', () => {
    const set = setOf(['f:a', 'f:status/f:x', 'f:status/f:y', 'f:m/f:n/f:o', 'f:m/f:p']);
    assert.deepEqual(pathsOf(withoutPath(set, ['status'])), ['f:a', 'f:m/f:n/f:o', 'f:m/f:p']);
    assert.deepEqual(pathsOf(withoutPath(set, ['m', 'n'])), [
      'f:a',
      'f:status/f:x',
      'f:status/f:y',
      'f:m/f:p',
    ]);
  });
});

describe('memberPaths()', () => {
  it('lists members of a level before what is below it, keys by their values', () => {
    const set = setOf([
      'f:spec/f:ports/k:{"port":443,"protocol":"TCP"}/f:name',
      'f:spec/f:ports/k:{"port":80,"protocol":"UDP"}/f:name',
      'f:spec/f:ports/k:{"port":80,"protocol":"TCP"}/f:name',
      'f:spec/f:selector',
      'f:metadata/f:finalizers/v:"b"',
      'f:metadata/f:finalizers/v:"a"',
      'f:list/i:0',
    ]);
    assert.deepEqual(memberPaths(set), [
      '.list[0]',
      '.metadata.finalizers[="a"]',
      '.metadata.finalizers[="b"]',
      '.spec.selector',
      '.spec.ports[port=80,protocol="TCP"].name',
      '.spec.ports[port=80,protocol="UDP"].name',
      '.spec.ports[port=443,protocol="TCP"].name',
    ]);
  });
});

describe('parseFieldSet()', () => {
  it('returns canonical sets themselves', () => {
    const set = { 'f:a': { '.': {}, 'k:{"a":1,"b":"x"}': {} } };
    assert.equal(parseFieldSet(set), set);
  });

  it('spells keys canonically', () => {
    const sent = { 'f:a': { 'k:{"b": "x", "a": 1}': {}, 'v: "y"': {}, 'i:007': {} } };
    const spelled = { 'f:a': { 'k:{"a":1,"b":"x"}': {}, 'v:"y"': {}, 'i:7': {} } };
    assert.deepEqual(parseFieldSet(sent), spelled);
  });

  for (const bad of [
    null,
    [],
    'x',
    { a: {} },
    { 'f:a': 1 },
    { 'k:[]': {} },
    { 'k:{': {} },
    { 'v:': {} },
    { 'i:x': {} },
  ]) {
    it(`refuses ${JSON.stringify(bad)}`, () => assert.equal(parseFieldSet(bad), undefined));
  }
});
