/**
 * Tests that a guard or action of only one region is defined beside it, so that the setup contains only what several
 * regions share.
 */
import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine } from 'xstate';
import { containerMachine } from '../../machines/container/chart.ts';
import { nodeAgentMachine } from '../../machines/node/chart.ts';
import { podMachine } from '../../machines/pod/chart.ts';
import { productFiles } from '../support/tree.ts';

const machines: [string, AnyStateMachine][] = [
  ['machines/container', containerMachine],
  ['machines/node', nodeAgentMachine],
  ['machines/pod', podMachine],
];

const textOf = (path: string): string => productFiles.find(({ file }) => file === path)?.text ?? '';
const namesOf = ({ implementations: { guards, actions } }: AnyStateMachine): string[] => [
  ...Object.keys(guards),
  ...Object.keys(actions),
];

describe.each(machines)('%s', (folder, machine) => {
  const setup = textOf(`${folder}/setup.ts`);
  const regions = productFiles.filter(
    ({ file }) => file === `${folder}/chart.ts` || file.startsWith(`${folder}/states/`),
  );
  const usersOf = (name: string) => regions.filter(({ text }) => text.includes(`'${name}'`)).map(({ file }) => file);
  const isOfSetup = (name: string) => new RegExp(`^ {4}${name}: `, 'm').test(setup);

  test('every guard and action is used by at least one region', () => {
    const charts = productFiles.filter(({ file }) => file.startsWith('machines/'));
    const unused = namesOf(machine).filter((name) => !charts.some(({ text }) => text.includes(`'${name}'`)));
    expect(regions.length).toBeGreaterThan(2);
    expect(unused).toEqual([]);
  });

  test('the setup of all regions contains nothing that only one region uses', () => {
    const misplaced = namesOf(machine).filter(
      (name) => isOfSetup(name) && usersOf(name).length < 2 && !setup.includes(`'${name}'`),
    );
    expect(namesOf(machine).filter(isOfSetup).length).toBeGreaterThan(10);
    expect(misplaced).toEqual([]);
  });
});
