import { describe, expect, test } from '@jest/globals';
import { and, fromPromise, setup } from 'xstate';
import { createCharts } from '../../../machines/drawing/charts.ts';
import { mermaidOf } from '../../../machines/drawing/mermaid.ts';

test('nested states, their waits, events with guards, and transitions that stay in a state are rendered', () => {
  const machine = setup({
    actors: { ask: fromPromise(async () => 1) },
    guards: { isRight: () => true, isLate: () => false },
    actions: { note: () => {} },
  }).createMachine({
    id: 'door',
    initial: 'shut',
    on: { 'door.knocked': { actions: 'note' }, 'door.broken': '.gone' },
    states: {
      shut: {
        initial: 'asking',
        on: { 'door.reset': { target: 'shut', reenter: true } },
        onDone: 'gone',
        states: {
          asking: {
            meta: { waitsFor: 'an answer' },
            invoke: {
              src: 'ask',
              onDone: [{ guard: and(['isRight', 'isLate']), target: '#door.open' }, { target: 'over' }],
              onError: 'over',
            },
          },
          over: { type: 'final' },
        },
      },
      open: { always: { guard: 'isLate', target: 'gone' }, on: { 'door.reset': {} } },
      gone: { type: 'final' },
    },
  });
  expect(mermaidOf(machine)).toBe(`stateDiagram-v2
    [*] --> shut
    state "shut" as shut {
        [*] --> shut_asking
        state "asking" as shut_asking
        shut_asking : waits for an answer
        state "over" as shut_over
        state "any state" as shut_any
        shut_any --> shut_asking : door.reset
        shut_asking --> shut_over : ask done [else]<br>ask failed
        shut_over --> [*]
    }
    state "open" as open
    state "gone" as gone
    state "any state" as any
    any : door.knocked / note
    any --> gone : door.broken
    shut --> gone : done
    shut_asking --> open : ask done [isRight and isLate]
    open --> gone : [isLate]
    gone --> [*]
`);
});

test('a guard without a name is rejected', () => {
  const machine = setup({}).createMachine({
    initial: 'a',
    states: { a: { on: { go: { guard: () => true, target: 'b' } } }, b: {} },
  });
  expect(() => mermaidOf(machine)).toThrow('no name');
});

describe.each(createCharts().map((chart) => [chart.name, chart.mermaid] as const))('the chart of %s', (_, mermaid) => {
  const lines = mermaid.split('\n').map((line) => line.trim());

  test('has edges only between existing states', () => {
    const known = new Set([...mermaid.matchAll(/state ".*" as (\w+)/g)].map(([, id]) => id));
    const ends = [...mermaid.matchAll(/^ *(\S+) --> (\S+)/gm)].flatMap(([, from, to]) => [from, to]);
    expect(ends.length).toBeGreaterThan(1);
    expect(ends.filter((id) => id !== '[*]' && !known.has(id))).toEqual([]);
  });

  test('is valid Mermaid source', () => {
    const forms = [/^stateDiagram-v2$/, /^state "[\w ]+" as \w+( \{)?$/, /^\w+ : [^;#:"]+$/, /^\}$/, /^$/];
    const arrow = /^(\[\*\]|\w+) --> (\[\*\]|\w+)( : [^;#:"]+)?$/;
    expect(lines.filter((line) => ![...forms, arrow].some((form) => form.test(line)))).toEqual([]);
  });
});
