/**
 * Creates the root of an agent's actors. All agents of a process share one machine, because many simulated agents live
 * for less time than it takes to create a machine. Ports look up their provider by the actor system of the caller.
 */
import {
  type ActorOptions,
  type ActorRefFrom,
  type AnyActorRef,
  createActor,
  fromCallback,
  fromPromise,
  type NonReducibleUnknown,
} from 'xstate';
import { nodeAgentMachine } from '../../machines/node/chart.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import {
  type FeedLogic,
  type Port,
  type PortName,
  type PortTypes,
  type Provider,
  provided,
} from '../../machines/shared/ports.ts';
import type { TimerInput } from '../../machines/shared/timerInput.ts';

export type RootActor = ActorRefFrom<typeof nodeAgentMachine>;

type System = AnyActorRef['system'];

const providers = new WeakMap<System, Provider>();

function providerOf(system: System): Provider {
  const provider = providers.get(system);
  if (provider === undefined) throw new Error('nothing is provided for the actors of this system');
  return provider;
}

/** Returns the creator function of an actor logic, which XState stores as its `config`. */
const creatorOf = <F>({ config }: { readonly config?: unknown }): F => config as F;

const systemProvider: Provider = {
  port: <K extends PortName>(name: K) => {
    type Call = Parameters<typeof fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>>[0];
    const logic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>((call) =>
      creatorOf<Call>(providerOf(call.system).port(name))(call),
    );
    // The two types differ only in how XState spells "any JSON".
    return logic as unknown as Port<K>;
  },
  feed: (name): FeedLogic =>
    fromCallback((call) =>
      creatorOf<Parameters<typeof fromCallback<{ type: 'feed.never' }>>[0]>(providerOf(call.system).feed(name))(call),
    ),
  timer: fromCallback<{ type: 'timer.never' }, TimerInput>((call) =>
    creatorOf<Parameters<typeof fromCallback<{ type: 'timer.never' }, TimerInput>>[0]>(providerOf(call.system).timer)(
      call,
    ),
  ),
};

let machine: typeof nodeAgentMachine | undefined;

/** Creates the root actor of an agent with the ports, feeds and timers of the provider. */
export function createRootActor(
  provider: Provider,
  options: ActorOptions<typeof nodeAgentMachine> & { readonly input: NodeInput },
): RootActor {
  machine ??= provided(nodeAgentMachine, systemProvider);
  const root = createActor(machine, options);
  providers.set(root.system, provider);
  return root;
}
