import type { SimulatedContainer } from '../../cri/simulated/views.ts';
import { fullName } from '../host.ts';
import type { Invariant } from './invariant.ts';

/** A container that runs, and what it was when it was seen first. */
interface Known {
  readonly id: string;
  readonly since: number;
}

export const untouched: Invariant = {
  number: 4,
  says: 'What ran and was not touched goes on in the same container, whatever becomes of the agent, the sources or the store.',
  follow: ({ host, deeds }, violated) => {
    const known = new Map<string, Known>();
    return {
      onChange: () => {
        const { elapsed } = host.clock;
        const running = new Map<string, SimulatedContainer>(
          host
            .containers()
            .flatMap((each) =>
              each.state === 'running' ? [[`${fullName(each)} ${each.containerName}`, each] as const] : [],
            ),
        );
        for (const [name, { id, since }] of known) {
          const now = running.get(name);
          if (now?.id === id) continue;
          known.delete(name);
          const [pod = ''] = name.split(' ');
          if (deeds.wanted.has(pod) && !deeds.isTouchedSince(pod, since))
            violated(`${name} was ended, and nothing had touched it`);
        }
        for (const [name, { id }] of running) if (!known.has(name)) known.set(name, { id, since: elapsed });
      },
    };
  },
};
