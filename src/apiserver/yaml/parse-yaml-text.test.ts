import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stringify } from 'yaml';
import { parseYaml } from '../../schema/yaml.ts';
import { convertBody } from './convert-body.ts';
import { parseYamlText } from './parse-yaml-text.ts';

const object = {
  apiVersion: 'v1',
  data: Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`k${n}`, `value ${n}`])),
};

const texts: Readonly<Record<string, string>> = {
  'a small text': 'a: 1\nb: [x, y]\n',
  'a large text': stringify(object),
  'a large text that is JSON': JSON.stringify(object),
  'large JSON with a number that YAML reads otherwise': JSON.stringify({ ...object, n: 1e30 }),
  'large JSON with a key that is given twice': `{"a":1,"a":2,"b":${JSON.stringify(object)}}`,
  'a large text that is wrong': `${stringify(object)}\n}`,
  'large JSON that ends early': JSON.stringify(object).slice(0, -3),
};

describe('parseYamlText()', () => {
  for (const [name, text] of Object.entries(texts)) {
    it(`reads ${name} as parseYaml() does`, async () => {
      assert.deepEqual(await parseYamlText(text), parseYaml(text));
    });
  }

  it('lets others go first while it reads a large text', async () => {
    let others = 0;
    const parsing = parseYamlText(stringify(object)).then(() => others);
    setImmediate(() => {
      others += 1;
    });
    assert.equal(await parsing, 1);
  });
});

describe('convertBody()', () => {
  it('brings JSON into the form that was asked for', async () => {
    const body = Buffer.from('{"b":[1],"a":"yes"}');
    const yaml = await convertBody({ body, convert: 'yaml' });
    assert.equal(String(yaml.body), 'a: "yes"\nb:\n- 1\n');
    const pretty = await convertBody({ body, convert: 'pretty' });
    assert.equal(String(pretty.body), '{\n  "b": [\n    1\n  ],\n  "a": "yes"\n}');
    assert.equal(pretty.convert, undefined);
  });

  it('leaves what is in its form already', async () => {
    const answer = { body: 'text' };
    assert.equal(await convertBody(answer), answer);
  });
});
