import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ActorDiffer, allTrees, flattenTree, type ShownTree, toShownPod } from '../../inspect/shown.ts';
import type { ActorNode } from '../../show/actors/actorNode.ts';
import { withFrame, worldOf } from '../../web/model/server/world.ts';
import { podWith } from '../fakes/pods.ts';
import { emptySnapshot } from './support/served.ts';

const actor = (path: string, state = 'running', children: readonly ActorNode[] = []): ActorNode => ({
  kind: 'actor',
  name: path,
  path,
  id: path,
  machine: 'pod',
  state,
  since: 0,
  tags: [],
  facts: [],
  children,
});

const pathsOf = (actors: readonly { readonly path: string }[]) => actors.map(({ path }) => path);

function changes(shown: ActorDiffer, root: ActorNode, ...pods: readonly ActorNode[]) {
  const { actors, removedPaths } = shown.compareAll(allTrees(root, new Map(pods.map((pod) => [pod.path, pod]))));
  return { actors: pathsOf(actors), gone: removedPaths };
}

describe('the changes of the actor tree', () => {
  test('contain all actors at first, parents before children, and nothing for equal trees', () => {
    const shown = new ActorDiffer();
    const root = () => actor('', 'running', [actor('sources')]);
    const pod = () => actor('pod/a', 'running', [actor('pod/a/c')]);
    expect(changes(shown, root(), pod())).toEqual({ actors: ['', 'sources', 'pod/a', 'pod/a/c'], gone: [] });
    expect(changes(shown, root(), pod())).toEqual({ actors: [], gone: [] });
  });

  test('are not computed for an identical tree object', () => {
    const shown = new ActorDiffer();
    let looked = 0;
    const pod = actor('pod/a');
    const watched: ActorNode = Object.defineProperty({ ...pod }, 'children', {
      get: () => {
        looked += 1;
        return [];
      },
      enumerable: true,
    });
    changes(shown, actor(''), watched);
    const before = looked;
    changes(shown, actor(''), watched);
    expect(looked).toBe(before);
  });

  test('contain only the actor whose state changed, not its ancestors or descendants', () => {
    const shown = new ActorDiffer();
    const pod = (state: string) => actor('pod/a', 'running', [actor('pod/a/c', state, [actor('pod/a/c/p')])]);
    changes(shown, actor(''), pod('running'));
    expect(changes(shown, actor(''), pod('backingOff'))).toEqual({ actors: ['pod/a/c'], gone: [] });
  });

  test('contain the new positions of siblings after a removed actor, which is removed with its descendants', () => {
    const shown = new ActorDiffer();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => actor(`pod/${name}`, 'running', [actor(`pod/${name}/x`)]));
    if (!a || !b || !c) throw new Error('there are three');
    changes(shown, actor(''), a, b, c);
    expect(changes(shown, actor(''), a, c)).toEqual({ actors: ['pod/c'], gone: ['pod/b', 'pod/b/x'] });
    expect(changes(shown, actor(''), c, a)).toEqual({ actors: ['pod/c', 'pod/a'], gone: [] });
    expect(changes(shown, actor(''))).toEqual({ actors: [], gone: ['pod/c', 'pod/c/x', 'pod/a', 'pod/a/x'] });
  });

  test('applied to the previous tree yield the current tree, for any moves and duplicate paths', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__');
    const leaf = fc.record({ name, state: fc.constantFrom('one', 'other') });
    const pods = fc.array(fc.record({ name, state: name, below: fc.array(leaf, { maxLength: 4 }) }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(pods, { minLength: 2, maxLength: 5 }), (moments) => {
        const shown = new ActorDiffer();
        let world = worldOf(emptySnapshot);
        for (const each of moments) {
          const trees = allTrees(
            actor(''),
            new Map(
              each.map(({ name, state, below }) => [
                name,
                actor(
                  name,
                  state,
                  below.map((one) => actor(`${name}/${one.name}`, one.state)),
                ),
              ]),
            ),
          );
          const { actors, removedPaths } = shown.compareAll(trees);
          const rest = { at: 0, pods: [], podsGone: [], lines: [] };
          world = withFrame(world, { ...rest, actors, actorsGone: removedPaths });
          const anew = worldOf({ ...emptySnapshot, actors: [...trees.values()].flatMap(flattenTree) });
          expect(sorted(world.actors)).toEqual(sorted(anew.actors));
        }
      }),
    );
  });
});

const sorted = (actors: ReadonlyMap<string, unknown>) => [...actors].sort(([one], [other]) => (one < other ? -1 : 1));

test('all actors of a tree have their parent and position', () => {
  const tree: ShownTree = { tree: actor('', 'running', [actor('a'), actor('b', 'running', [actor('b/c')])]), order: 0 };
  expect(flattenTree(tree).map(({ path, parent, order }) => [path, parent, order])).toEqual([
    ['', undefined, 0],
    ['a', '', 0],
    ['b', '', 1],
    ['b/c', 'b', 0],
  ]);
});

test('a pod is static if its source is not the API', () => {
  const from = (source: string) =>
    toShownPod(podWith('web', {}, { annotations: { 'kubernetes.io/config.source': source } }), 0).isStatic;
  expect([from('file'), from('http'), from('api'), toShownPod(podWith('web'), 0).isStatic]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
