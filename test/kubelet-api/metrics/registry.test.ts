/** Tests counters and their text format. */
import { expect, test } from '@jest/globals';
import { alpha, plain, Registry } from '../../../kubelet-api/metrics/registry.ts';
import { samplesOf, textOf } from './support/scraped.ts';

test('counters, gauges and histograms are sorted by name, and omitted without a series', async () => {
  const registry = new Registry();
  const sizes = registry.histogram(alpha('sizes', 'How large.', ['of']), [1, 2.5]);
  const counter = registry.counter(alpha('asked_total', 'How often.', ['by', 'what']));
  registry.gauge(plain('open', 'How many.')).set([], Number.POSITIVE_INFINITY);
  registry.counter(plain('zero_total', 'None yet.'));
  registry.histogram(plain('empty_seconds', 'None yet.', []), [1]);
  registry.gauge(plain('absent', 'None at all.', ['of']));
  counter.add(['a"b\\c', 'd\ne']);
  counter.add(['a"b\\c', 'd\ne'], 2);
  for (const size of [1, 2, 3]) sizes.observe(['x'], size);
  expect(await textOf(registry)).toBe(
    [
      '# HELP asked_total [ALPHA] How often.',
      '# TYPE asked_total counter',
      'asked_total{by="a\\"b\\\\c",what="d\\ne"} 3',
      '# HELP open How many.',
      '# TYPE open gauge',
      'open +Inf',
      '# HELP sizes [ALPHA] How large.',
      '# TYPE sizes histogram',
      'sizes_bucket{of="x",le="1"} 1',
      'sizes_bucket{of="x",le="2.5"} 2',
      'sizes_bucket{of="x",le="+Inf"} 3',
      'sizes_sum{of="x"} 6',
      'sizes_count{of="x"} 3',
      '# HELP zero_total None yet.',
      '# TYPE zero_total counter',
      'zero_total 0',
      '',
    ].join('\n'),
  );
});

test('series can be deleted, and restart from zero', async () => {
  const registry = new Registry();
  const counter = registry.counter(plain('asked_total', 'How often.', ['by']));
  const all = registry.counter(plain('all_total', 'All.'));
  counter.add(['one']);
  counter.add(['two']);
  all.add([], 5);
  counter.remove(['one']);
  expect([counter.has(['one']), counter.has(['two'])]).toEqual([false, true]);
  registry.clear();
  expect([...(await samplesOf(registry))]).toEqual([['all_total', 0]]);
});

test('label values that only look equal when joined are separate series', async () => {
  const registry = new Registry();
  const counter = registry.counter(plain('asked_total', 'How often.', ['by', 'what']));
  counter.add(['a b', 'c']);
  counter.add(['a', 'b c']);
  expect((await samplesOf(registry)).size).toBe(2);
  expect(() => counter.add(['a'])).toThrow('asked_total: 1 labels, not 2');
  expect(() => registry.gauge(plain('asked_total', 'Again.'))).toThrow('asked_total is already registered');
});

test('a family has a limited number of series', async () => {
  const registry = new Registry();
  const counter = registry.counter(plain('asked_total', 'How often.', ['by']));
  for (let each = 0; each < 25_000; each += 1) counter.add([`client-${each}`]);
  counter.add(['client-0']);
  const samples = await samplesOf(registry);
  expect(samples.size).toBe(20_000);
  expect(samples.get('asked_total{by="client-0"}')).toBe(2);
});

test('a failed lookup during a scrape is reported, and does not affect other metrics', async () => {
  const errors: unknown[] = [];
  const registry = new Registry((error) => void errors.push(error));
  const open = registry.gauge(plain('open', 'How many.'));
  registry.collect(() => Promise.reject(new Error('no file')));
  registry.collect(() => open.set([], 4));
  expect([...(await samplesOf(registry))]).toEqual([['open', 4]]);
  expect(String(errors[0])).toBe('Error: metrics: no file');
});
