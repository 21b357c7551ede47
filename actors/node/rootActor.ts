/**
 * The root of an agent's actors. All agents of a process run one machine: to make it over for each takes longer than many
 * an agent lives in a simulation. Whose port an actor calls, the system says that it is in.
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
  const found = providers.get(system);
  if (found === undefined) throw new Error('nothing is provided for the actors of this system');
  return found;
}

/** The function that a logic was made of, which xstate keeps with it. */
const madeOf = <F>({ config }: { readonly config?: unknown }): F => config as F;

const bySystem: Provider = {
  port: <K extends PortName>(name: K) => {
    type Call = Parameters<typeof fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>>[0];
    const logic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input'] & NonReducibleUnknown>((call) =>
      madeOf<Call>(providerOf(call.system).port(name))(call),
    );
    // The two types differ only in how xstate spells "any JSON".
    return logic as unknown as Port<K>;
  },
  feed: (name): FeedLogic =>
    fromCallback((call) =>
      madeOf<Parameters<typeof fromCallback<{ type: 'feed.never' }>>[0]>(providerOf(call.system).feed(name))(call),
    ),
  timer: fromCallback<{ type: 'timer.never' }, TimerInput>((call) =>
    madeOf<Parameters<typeof fromCallback<{ type: 'timer.never' }, TimerInput>>[0]>(providerOf(call.system).timer)(
      call,
    ),
  ),
};

let machine: typeof nodeAgentMachine | undefined;

/** An agent's root, whose actors call what the provider has for them. */
export function rootActor(
  provider: Provider,
  options: ActorOptions<typeof nodeAgentMachine> & { readonly input: NodeInput },
): RootActor {
  machine ??= provided(nodeAgentMachine, bySystem);
  const root = createActor(machine, options);
  providers.set(root.system, provider);
  return root;
}
