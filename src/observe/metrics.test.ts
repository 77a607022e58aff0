import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from './metrics.ts';

test('text() writes every kind of metric in the text format', () => {
  const registry = createMetrics();
  const requests = registry.counter({ name: 'requests_total', help: 'Requests.' });
  const open = registry.gauge({ name: 'open', help: 'Open now.' });
  registry.gaugeFrom({ name: 'memory_bytes', help: 'Memory.' }, () => 1024);
  const seconds = registry.histogram({ name: 'seconds', help: 'Time.', buckets: [0.1, 1] });
  requests.add({ code: '200', verb: 'GET' });
  requests.add({ code: '200', verb: 'GET' }, 2);
  requests.add({ code: '404', verb: 'GET' });
  open.add({ kind: 'a' }, 3);
  open.add({ kind: 'a' }, -1);
  open.set({ kind: 'b' }, 7);
  for (const value of [0.05, 0.1, 0.5, 5]) seconds.observe({ verb: 'GET' }, value);
  const wanted = `
    # HELP requests_total Requests.
    # TYPE requests_total counter
    requests_total{code="200",verb="GET"} 3
    requests_total{code="404",verb="GET"} 1
    # HELP open Open now.
    # TYPE open gauge
    open{kind="a"} 2
    open{kind="b"} 7
    # HELP memory_bytes Memory.
    # TYPE memory_bytes gauge
    memory_bytes 1024
    # HELP seconds Time.
    # TYPE seconds histogram
    seconds_bucket{verb="GET",le="0.1"} 2
    seconds_bucket{verb="GET",le="1"} 3
    seconds_bucket{verb="GET",le="+Inf"} 4
    seconds_sum{verb="GET"} 5.65
    seconds_count{verb="GET"} 4
    `;
  assert.equal(registry.text(), wanted.replace(/^\n/, '').replace(/^ {4}/gm, ''));
});

test('tally() and observer() share their values with add() and observe()', () => {
  const registry = createMetrics();
  const requests = registry.counter({ name: 'requests_total', help: 'Requests.' });
  const tally = requests.tally({ code: '200' });
  tally.value += 2;
  requests.add({ code: '200' });
  const seconds = registry.histogram({ name: 'seconds', help: 'Time.', buckets: [1] });
  seconds.observer({ verb: 'GET' })(0.5);
  seconds.observe({ verb: 'GET' }, 2);
  registry.counterFrom({ name: 'ticks_total', help: 'Ticks.' }, () => 7);
  const lines = registry.text().split('\n');
  for (const line of [
    'requests_total{code="200"} 3',
    'seconds_bucket{verb="GET",le="1"} 1',
    'seconds_count{verb="GET"} 2',
    '# TYPE ticks_total counter',
    'ticks_total 7',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('text() writes metrics without labels without braces', () => {
  const registry = createMetrics();
  registry.counter({ name: 'a_total', help: 'A.' }).add();
  registry.histogram({ name: 'b', help: 'B.', buckets: [1] }).observe({}, 0.5);
  const lines = registry.text().split('\n');
  for (const line of ['a_total 1', 'b_bucket{le="1"} 1', 'b_sum 0.5', 'b_count 1']) {
    assert.ok(lines.includes(line), line);
  }
});

test('text() escapes the values of labels', () => {
  const registry = createMetrics();
  registry.counter({ name: 'a', help: 'A.' }).add({ l: 'quote " slash \\ line\nend' });
  assert.ok(registry.text().includes('a{l="quote \\" slash \\\\ line\\nend"} 1\n'));
});

test('text() of a metric without values has its HELP and TYPE alone', () => {
  const registry = createMetrics();
  registry.counter({ name: 'a', help: 'A.' });
  assert.equal(registry.text(), '# HELP a A.\n# TYPE a counter\n');
});

test('createMetrics() returns the same metric for the same name, and refuses another type', () => {
  const registry = createMetrics();
  for (let time = 0; time < 2; time += 1) {
    registry.counter({ name: 'a', help: 'A.' }).add();
    registry.gauge({ name: 'b', help: 'B.' }).add({}, 1);
    registry.histogram({ name: 'c', help: 'C.', buckets: [] }).observe({}, 1);
  }
  const lines = registry.text().split('\n');
  assert.deepEqual(
    lines.filter((line) => !line.startsWith('#')),
    ['a 2', 'b 2', 'c_bucket{le="+Inf"} 2', 'c_sum 2', 'c_count 2', ''],
  );
  assert.throws(() => registry.gauge({ name: 'a', help: 'A.' }), /of another type/);
});

test('clear() removes the values of a gauge; gaugeFrom() reads values and labels at each scrape', () => {
  const registry = createMetrics();
  const gauge = registry.gauge({ name: 'a', help: 'A.' });
  gauge.set({ l: 'x' }, 1);
  gauge.clear();
  let value = 0;
  registry.gaugeFrom({ name: 'b', help: 'B.' }, () => [{ labels: { l: 'x' }, value }]);
  value = 5;
  assert.equal(
    registry.text(),
    '# HELP a A.\n# TYPE a gauge\n# HELP b B.\n# TYPE b gauge\nb{l="x"} 5\n',
  );
});
