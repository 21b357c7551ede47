import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { censusOf, sortInSpecOrder, withLifecycles } from '../../../../machines/pod/containers/census.ts';
import type { ContainerLifecycle } from '../../../../machines/shared/events/events.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';

const LIFECYCLES: readonly ContainerLifecycle[] = [
  ...(['pending', 'coming', 'delayed', 'readyToCreate', 'launching', 'live', 'running'] as const),
  ...(['succeeded', 'failed', 'stopped', 'removed', 'restartsAll'] as const),
];

const named = (prefix: string, more = {}) =>
  [0, 1, 2].map((index) => aContainer({ name: `${prefix}${index}`, ...more }));
/** A pod with three containers of each role. */
const pod: Pod = aPod({
  initContainers: [...named('init'), ...named('sidecar', { restartPolicy: 'Always' })],
  containers: named('main'),
  ephemeralContainers: named('debug'),
});
/** The names of its containers, and `old`, a container that was removed but still has an actor. */
const names = [
  ...['init', 'sidecar', 'main', 'debug'].flatMap((prefix) => [0, 1, 2].map((index) => `${prefix}${index}`)),
  'old',
];

/** Computes the census by a scan of all containers. */
function scanned(containers: Readonly<Record<string, ContainerLifecycle>>) {
  const entries = Object.entries(containers);
  const withProcess = entries.filter(
    ([, lifecycle]) => !['succeeded', 'failed', 'stopped', 'removed'].includes(lifecycle),
  );
  const finished = entries.filter(([, lifecycle]) => lifecycle === 'succeeded' || lifecycle === 'failed');
  const isMain = ([name]: [string, unknown]) => name.startsWith('main');
  return {
    withoutActor: names.filter((name) => name !== 'old' && !Object.hasOwn(containers, name)).length,
    failedInits: entries.filter(([name, lifecycle]) => /^(init|sidecar)/.test(name) && lifecycle === 'failed').length,
    unfinishedRegulars: 3 - finished.filter(isMain).length,
    activeRegulars: withProcess.filter(isMain).length,
    active: withProcess.length,
    names: LIFECYCLES.map((each) => entries.flatMap(([name, is]) => (is === each ? [name] : [])).toSorted()),
  };
}

function counted(containers: Readonly<Record<string, ContainerLifecycle>>) {
  const census = censusOf({ containers, allocated: pod });
  const { missingActorCount, failedInitCount, unfinishedRegularCount, activeRegularCount, activeCount } = census;
  return {
    withoutActor: missingActorCount,
    failedInits: failedInitCount,
    unfinishedRegulars: unfinishedRegularCount,
    activeRegulars: activeRegularCount,
    active: activeCount,
    names: LIFECYCLES.map((each) => [...census.namesIn(each)].toSorted()),
  };
}

const change = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...LIFECYCLES));

describe('the census of a pod', () => {
  test('equals a scan of its containers after any changes', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }), (steps) => {
        let containers: Readonly<Record<string, ContainerLifecycle>> = {};
        const all = [containers];
        for (const step of steps) {
          containers = withLifecycles({ containers, allocated: pod }, new Map(step));
          all.push(containers);
          expect(counted(containers)).toEqual(scanned(containers));
        }
        for (const each of all.toReversed()) expect(counted(each)).toEqual(scanned(each));
      }),
    );
  });

  test('finds the first container of a list that has yet to be created, in any order of changes', () => {
    const list = names.slice(6, -1);
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 12 }), (steps) => {
        let containers: Readonly<Record<string, ContainerLifecycle>> = {};
        for (const step of steps) {
          containers = withLifecycles({ containers, allocated: pod }, new Map(step));
          const isOnItsWay = (name: string) => ['coming', 'readyToCreate'].includes(containers[name] ?? '');
          const rest = [...censusOf({ containers, allocated: pod }).fromFirstStarting(list)];
          expect(rest.find(isOnItsWay)).toBe(list.find(isOnItsWay));
        }
      }),
    );
  });

  test('visits each name of a list once while the containers fail one after the other', () => {
    const many = Array.from({ length: 500 }, (_, index) => `c${index}`);
    const large = aPod({ containers: many.map((name) => aContainer({ name })) });
    let reads = 0;
    const list = new Proxy(many, {
      get: (target, key) => {
        if (/^\d+$/.test(String(key))) reads += 1;
        return Reflect.get(target, key);
      },
    });
    let containers: Readonly<Record<string, ContainerLifecycle>> = Object.fromEntries(
      many.map((name) => [name, 'coming' as const]),
    );
    for (const name of many) {
      containers = withLifecycles({ containers, allocated: large }, new Map([[name, 'delayed' as const]]));
      const [next] = censusOf({ containers, allocated: large }).fromFirstStarting(list);
      expect(next).toBe(many[many.indexOf(name) + 1]);
    }
    expect(reads).toBeLessThanOrEqual(4 * many.length);
  });

  test('is counted again when the spec has changed', () => {
    const containers = withLifecycles({ containers: {}, allocated: pod }, new Map([['main0', 'running' as const]]));
    const smaller = aPod({ containers: named('main').slice(0, 1) });
    expect(censusOf({ containers, allocated: pod }).missingActorCount).toBe(11);
    expect(censusOf({ containers, allocated: smaller }).missingActorCount).toBe(0);
  });

  test('sorts names in the order of the spec, and drops unknown ones', () => {
    expect(sortInSpecOrder(pod.spec, ['main1', 'old', 'init2', 'main0'])).toEqual(['init2', 'main0', 'main1']);
  });
});
