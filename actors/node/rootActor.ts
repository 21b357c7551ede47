/**
 * Creates the root of an agent's actors. All agents of a process share one state machine, because creating a machine
 * can take longer than a whole simulation of an agent. A shared port therefore finds the implementation for the calling
 * agent through that agent's actor system.
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
  provideActors,
} from '../../machines/shared/ports.ts';
import type { TimerInput } from '../../machines/shared/waiting/timerInput.ts';

export type RootActor = ActorRefFrom<typeof nodeAgentMachine>;

type ActorSystem = AnyActorRef['system'];

const providerBySystem = new WeakMap<ActorSystem, Provider>();

function getProvider(system: ActorSystem): Provider {
  const provider = providerBySystem.get(system);
  if (provider === undefined) throw new Error('nothing is provided for the actors of this system');
  return provider;
}

/**
 * Returns the creator function from which actor logic was built. XState stores the function in the `config` of the
 * logic.
 */
const getCreator = <F>({ config }: { readonly config?: unknown }): F => config as F;

const systemProvider: Provider = {
  port: <K extends PortName>(name: K) => {
    type PromiseCreator = Parameters<
      typeof fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>
    >[0];
    const portLogic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>((call) =>
      getCreator<PromiseCreator>(getProvider(call.system).port(name))(call),
    );
    // Safe cast: the two types differ only in how XState declares arbitrary JSON values.
    return portLogic as unknown as Port<K>;
  },
  feed: (name): FeedLogic =>
    fromCallback((call) =>
      getCreator<Parameters<typeof fromCallback<{ type: 'feed.never' }>>[0]>(getProvider(call.system).feed(name))(call),
    ),
  timer: fromCallback<{ type: 'timer.never' }, TimerInput>((call) =>
    getCreator<Parameters<typeof fromCallback<{ type: 'timer.never' }, TimerInput>>[0]>(getProvider(call.system).timer)(
      call,
    ),
  ),
};

let providedMachine: typeof nodeAgentMachine | undefined;

/** Creates the root actor of an agent with the ports, feeds and timers of the provider. */
export function createRootActor(
  provider: Provider,
  options: ActorOptions<typeof nodeAgentMachine> & { readonly input: NodeInput },
): RootActor {
  providedMachine ??= provideActors(nodeAgentMachine, systemProvider);
  const root = createActor(providedMachine, options);
  providerBySystem.set(root.system, provider);
  return root;
}
