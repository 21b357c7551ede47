/** The watches of a node on a test API server in memory. */
import { ClusterRuntimeClasses } from '../../actors/cluster/clusterRuntimeClasses.ts';
import { OwnNode } from '../../actors/cluster/node/ownNode.ts';
import { ClusterServices } from '../../actors/cluster/services.ts';
import { clusterWatches } from '../../actors/cluster/watches.ts';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { cluster } from './cluster.ts';

/** Starts the watches, which run until `stop` is called, and collects the facts that they report. */
export function watching() {
  const clock = new SimulatedClock();
  const [api, ending] = [cluster(clock), new AbortController()];
  const caches = { ownNode: new OwnNode(), services: new ClusterServices(), classes: new ClusterRuntimeClasses() };
  const [facts, errors]: [NodeFact[], string[]] = [[], []];
  const onError = (source: string, error: unknown) => errors.push(`${source}: ${String(error)}`);
  const feed = clusterWatches({ cluster: api, nodeName: 'node-1', clock, jitter: () => 0, onError, ...caches });
  const running = feed((fact) => facts.push(fact), { signal: ending.signal });
  const factsOf = (watch: string) =>
    facts.flatMap((fact) =>
      fact.type === 'cluster.watchChanged' && fact.watch === watch && fact.state !== null ? [fact.state] : [],
    );
  const states = (watch: string) => factsOf(watch).map(({ state }) => state);
  const stop = async () => {
    ending.abort();
    await running;
  };
  return { ...api, ...caches, clock, facts, factsOf, errors, states, stop };
}
