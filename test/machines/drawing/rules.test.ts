import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { machines } from '../../../machines/drawing/charts.ts';
import { rulesOf, stateRules } from '../../../machines/drawing/rules.ts';
import { dotted, nodesOf } from '../../../machines/drawing/ways.ts';
import { root } from '../../support/root.ts';
import { productFiles } from '../../support/tree.ts';

const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8');

test.each(stateRules)(
  '$machine $state follows existing rules $rules in an existing state',
  ({ machine, state, rules }) => {
    const states = machines.filter(({ id }) => id === machine).flatMap(({ root: node }) => nodesOf(node).map(dotted));
    expect(states).toContain(state);
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) expect(page).toContain(`## ${rule} `);
  },
);

test('each rule is also named in the code of its machine', () => {
  const odd = stateRules.flatMap(({ machine, rules }) => {
    const texts = productFiles.filter(({ file }) => file.startsWith(`machines/${machine}/`)).map(({ text }) => text);
    return rules
      .filter((rule) => !texts.some((text) => new RegExp(`\\b${rule}\\b`).test(text)))
      .map((rule) => `${machine} ${rule}`);
  });
  expect(odd).toEqual([]);
});

test('a state has the rules of the innermost enclosing state that has any', () => {
  expect(rulesOf('container', 'stopping.killing.graceful')).toEqual(['C10']);
  expect(rulesOf('container', 'stopping.awaitingOthers')).toEqual(['C11']);
  expect(rulesOf('container', 'new')).toEqual([]);
  expect(rulesOf('container', 'runningOn')).toEqual([]);
});
