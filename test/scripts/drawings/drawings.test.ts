import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Drawing, DrawnState } from '../../../inspect/protocol.ts';
import { machines } from '../../../machines/drawing/charts.ts';
import { isInside, regionsOf } from '../../../machines/drawing/regions.ts';
import { describeTransitions, dottedPath, nodesOf } from '../../../machines/drawing/ways.ts';
import { drawAll } from '../../../scripts/drawings/all.ts';
import { doOverlap, type Rectangle } from '../../../scripts/drawings/labels.ts';
import { labelLines, transitionsFrom } from '../../../web/model/chart/text.ts';
import { monoWidth, sansWidth } from '../../../web/model/chart/textWidth.ts';
import { root } from '../../support/root.ts';

const drawings = await drawAll(root);
const byName = [...drawings];

/** Maximum size of a drawing in bytes when sent to a browser. */
const MOST_BYTES = 15_000;

const machineOf = ({ machine }: Drawing) => {
  const found = machines.find(({ id }) => id === machine);
  if (found === undefined) throw new Error(`there is no machine ${machine}`);
  return found;
};

const contains = (outer: DrawnState, inner: DrawnState): boolean =>
  outer.x <= inner.x &&
  outer.y <= inner.y &&
  outer.x + outer.width >= inner.x + inner.width &&
  outer.y + outer.height >= inner.y + inner.height;

/**
 * Whether a state is inside `outer`. The name of a folded row ends in `.*` and represents the states inside the state
 * before it.
 */
const isIn = (state: string, outer: string) => state !== outer && isInside(state.replace(/[.][*]$/, '.x'), outer);

const labelBoxes = ({ ways }: Drawing): Rectangle[] =>
  ways.flatMap(({ label, labelAt }) => {
    if (labelAt === undefined) return [];
    const lines = labelLines(label, '59m59s');
    return [
      {
        x: labelAt[0],
        y: labelAt[1],
        width: Math.max(...lines.map((line) => monoWidth(line, 10.5))),
        height: 14 * lines.length,
      },
    ];
  });

/** Whether a point is on the edge of a box or in its header. */
const touches = ([x, y]: readonly [number, number], box: DrawnState): boolean =>
  x >= box.x - 1 && x <= box.x + box.width + 1 && y >= box.y - 1 && y <= box.y + box.height + 1;

test('there is a drawing of each machine, and of each of its regions', () => {
  const expected = machines.flatMap((machine) => [
    machine.id,
    ...regionsOf(machine).map(({ id }) => `${machine.id}.${id}`),
  ]);
  expect([...drawings.keys()]).toEqual(expected);
});

test('the same machines produce the same drawings', async () => {
  expect(JSON.stringify([...(await drawAll(root))])).toBe(JSON.stringify(byName));
});

describe.each(byName)('the drawing %s', (_, drawing) => {
  const { states, ways, exits } = drawing;
  const box = (state: string) => states.find((each) => each.state === state);

  test('has boxes that are nested like the states, and do not overlap otherwise', () => {
    const odd = states.flatMap((one, index) =>
      states.slice(index + 1).flatMap((other) => {
        const [outer, inner] = isIn(one.state, other.state) ? [other, one] : [one, other];
        const isRight = isIn(inner.state, outer.state) ? contains(outer, inner) : !doOverlap(one, other);
        return isRight ? [] : [[one.state, other.state]];
      }),
    );
    expect(odd).toEqual([]);
    const inSight = {
      ...states[0],
      state: '',
      label: '',
      kind: 'compound',
      x: 0,
      y: 0,
      width: drawing.width,
      height: drawing.height,
    } as const;
    expect(states.filter((state) => !contains(inSight, state))).toEqual([]);
  });

  test('has room for every name', () => {
    expect(states.filter(({ label, width }) => sansWidth(label, 12) + 14 > width)).toEqual([]);
  });

  test('has arrows that start and end at their states, and turn at right angles', () => {
    const odd = ways.filter(({ from, to, points }) => {
      const [first, last] = [points[0], points.at(-1)];
      const [begin, end] = [box(from), box(to)];
      return !(first && last && begin && end && touches(first, begin) && touches(last, end));
    });
    expect(odd).toEqual([]);
    const slanted = ways.filter(({ points }) =>
      points.some(([x, y], index) => {
        const [beforeX, beforeY] = points[index - 1] ?? [x, y];
        return Math.abs(x - beforeX) > 1 && Math.abs(y - beforeY) > 1;
      }),
    );
    expect(slanted).toEqual([]);
  });

  test('contains no guards', () => {
    const labels = [...drawing.ways.flatMap(({ label }) => label), ...drawing.exits.map(({ label }) => label)];
    expect(labels.filter((label) => /[[\]]/.test(label))).toEqual([]);
  });

  test('shows each event only once beside an arrow', () => {
    expect(ways.filter(({ label }) => new Set(label).size < label.length).map(({ label }) => label)).toEqual([]);
  });

  test('lists each transition out of a state once', () => {
    const listed = states.flatMap(({ state }) =>
      transitionsFrom(drawing, state).map(({ label, to }) => `${state}: ${label} → ${to}`),
    );
    expect(listed.filter((line, index) => listed.indexOf(line) < index)).toEqual([]);
  });

  test('has labels that cover neither a state nor another label', () => {
    const labels = labelBoxes(drawing);
    expect(labels.filter((label) => states.some((state) => doOverlap(label, state)))).toEqual([]);
    expect(labels.filter((label, index) => labels.slice(index + 1).some((other) => doOverlap(label, other)))).toEqual(
      [],
    );
  });

  test('omits no transitions except those within a fold', () => {
    const folded = new Set(states.flatMap(({ foldedStates = [] }) => foldedStates.map(({ state }) => state)));
    const own = describeTransitions(machineOf(drawing)).filter(
      ({ from, to }) => from !== '' && to !== undefined && box(from),
    );
    const shown = new Set([...ways.flatMap((way) => way.ways), ...exits.map(({ way }) => way)]);
    const missing = own.filter(({ id, from, to = '' }) => !shown.has(id) && from !== to && !folded.has(to));
    expect(missing.map(({ id }) => id)).toEqual([]);
  });

  test('is small enough to be loaded when it is first shown', () => {
    expect(gzipSync(JSON.stringify(drawing)).length).toBeLessThan(MOST_BYTES);
  });
});

test.each(machines.map((machine) => [machine.id, machine] as const))(
  'the drawings of %s show each of its states',
  (id, machine) => {
    const own = byName.filter(([, drawing]) => drawing.machine === id).map(([, drawing]) => drawing);
    const states = nodesOf(machine.root)
      .slice(1)
      .filter(({ type }) => type !== 'history')
      .map(dottedPath);
    const [whole, ...regions] = own;
    expect(whole?.states.map(({ state }) => state).toSorted()).toEqual(states.toSorted());
    expect(whole?.statesOfAll).toBe(states.length);
    if (regions.length === 0) return;
    expect(regions.flatMap((drawing) => drawing.regions[0]?.states ?? []).length).toBeGreaterThan(0);
    const shown = regions.flatMap((drawing) =>
      drawing.states.flatMap(({ state, foldedStates }) => foldedStates?.map((folded) => folded.state) ?? [state]),
    );
    const atoms = nodesOf(machine.root)
      .filter(({ type }) => type === 'atomic' || type === 'final')
      .map(dottedPath);
    expect(shown.filter((state) => atoms.includes(state)).toSorted()).toEqual(atoms.toSorted());
  },
);

test('the usual path of a container is shown with other states folded, and its back-off has room for its wait', () => {
  const run = drawings.get('container.run');
  const labels = run?.states.filter(({ state }) => state.startsWith('launching')).map(({ label }) => label);
  expect(labels).toEqual(['launching', 'readyToCreate', 'devicesReady', 'queued', 'creating', 'starting', '8 more']);
  expect(run?.states.find(({ state }) => state === 'launching.*')?.foldedStates?.map(({ label }) => label)).toContain(
    'awaitingRetry',
  );
  expect(run?.states.find(({ state }) => state === 'ended.backingOff')?.height).toBeGreaterThan(60);
  expect(run?.exits.map(({ label, to }) => `${label} → ${to}`)).toContain('container.stop → stopped');
  const timed = run?.ways.find(({ from, to }) => from === 'ended.backingOff' && to === 'pending.restarting');
  expect(timed?.labelAt).toBeDefined();
});

test('a state has its description and the rule that it follows', () => {
  const run = drawings.get('container.run');
  const backingOff = run?.states.find(({ state }) => state === 'ended.backingOff');
  expect(backingOff).toMatchObject({
    description: expect.stringMatching(/^CrashLoopBackOff: the container restarts/),
    rules: ['C7'],
    tag: 'retrying',
  });
  expect(run?.rules.find(({ rule }) => rule === 'C7')?.text).toMatch(/^The first restart is immediate\. .* 300 s/);
});

test.each(machines.map(({ id, root }) => [id, root] as const))('every state of %s describes itself', (_, rootNode) => {
  const unclear = nodesOf(rootNode).filter(({ description = '' }) => !/^[A-Z].{10,240}\.$/.test(description));
  expect(unclear.map(dottedPath)).toEqual([]);
});

test('docs/charts-page contains the current drawings, which `npm run docs` writes', () => {
  const page = readFileSync(join(root, 'docs/charts-page/index.html'), 'utf8');
  const json = /id="drawings">(.*)<\/script>/.exec(page)?.[1] ?? '[]';
  const sorted = byName
    .toSorted(([one], [other]) => (`${one}.json` < `${other}.json` ? -1 : 1))
    .map(([, drawing]) => drawing);
  expect(JSON.parse(json)).toEqual(sorted);
});
