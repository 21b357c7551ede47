import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { machines } from '../../../machines/drawing/charts.ts';
import { rulesOf } from '../../../machines/drawing/regions.ts';
import { dottedPath, nodesOf } from '../../../machines/drawing/ways.ts';
import type { StateMeta } from '../../../machines/shared/stateMeta.ts';
import { root } from '../../support/root.ts';

const page = readFileSync(join(root, 'docs/conformance.md'), 'utf8');

const declared = machines.flatMap((machine) =>
  nodesOf(machine.root).flatMap((node) => {
    // Every machine here declares StateMeta as its meta type.
    const { rules } = (node.meta ?? {}) as StateMeta;
    return rules === undefined ? [] : { machine: machine.id, state: dottedPath(node), rules };
  }),
);

test.each(declared)('$machine $state declares only existing rules: $rules', ({ rules }) => {
  expect(rules.length).toBeGreaterThan(0);
  for (const rule of rules) expect(page).toContain(`## ${rule} `);
});

test('a state has the rules of the innermost enclosing state that declares any', () => {
  const [container] = machines.filter(({ id }) => id === 'container');
  if (container === undefined) throw new Error('there is no machine of containers');
  expect(rulesOf(container, 'stopping.killing.graceful')).toEqual(['C10']);
  expect(rulesOf(container, 'stopping.awaitingOtherContainers')).toEqual(['C11']);
  expect(rulesOf(container, 'new')).toEqual([]);
  expect(rulesOf(container, 'runningOn')).toEqual([]);
});
