import type { SimulatedContainer } from '../../cri/simulated/views.ts';
import type { Pod } from '../../pod/api/schema/pod.ts';
import { fullName, PLACES } from '../host.ts';
import type { OutsideCall } from '../outside.ts';
import type { Invariant, Watched } from './invariant.ts';

/** What a sandbox has seen of its containers: those that have started, and those that have ended well. */
class Seen {
  readonly #started = new Set<string>();
  readonly #succeeded = new Set<string>();

  note({ sandbox, containerName, state, exitCode }: SimulatedContainer): void {
    const key = `${sandbox.id}/${containerName}`;
    if (state !== 'created') this.#started.add(key);
    if (state === 'exited' && exitCode === 0) this.#succeeded.add(key);
  }

  hasStarted = (sandboxId: string, name: string): boolean => this.#started.has(`${sandboxId}/${name}`);
  hasSucceeded = (sandboxId: string, name: string): boolean => this.#succeeded.has(`${sandboxId}/${name}`);
}

/** The init containers that had to come first and have not. */
function missingBefore({ sandbox, containerName: name }: SimulatedContainer, { spec }: Pod, seen: Seen): string[] {
  const inits = spec.initContainers ?? [];
  const own = inits.findIndex((each) => each.name === name);
  return inits.slice(0, own === -1 ? inits.length : own).flatMap((init) => {
    const isDone =
      init.restartPolicy === 'Always'
        ? seen.hasStarted(sandbox.id, init.name)
        : seen.hasSucceeded(sandbox.id, init.name);
    return isDone ? [] : [init.name];
  });
}

/** What of a container's volumes is not there. */
function missingVolumes({ host }: Watched, { mounts }: SimulatedContainer): string[] {
  const paths = mounts.map(({ hostPath }) => hostPath);
  return paths.filter((path) => path.startsWith(`${PLACES.root}/`) && !host.files.existsSync(path));
}

export const startOrder: Invariant = {
  number: 2,
  says:
    'No container is started without its volumes mounted, after its stop was asked for, ' +
    'or before the init containers that come before it have succeeded.',
  follow: (watched, violated) => {
    const { host } = watched;
    const seen = new Seen();
    const stopped = new Set<string>();
    const look = () => {
      for (const container of host.containers()) seen.note(container);
    };
    const onStart = (id: string) => {
      look();
      const container = host.containers().find((each) => each.id === id);
      if (container === undefined) return;
      const what = `${fullName(container)} ${container.containerName}`;
      if (stopped.has(id) || stopped.has(container.sandbox.id))
        violated(`${what}: started after its stop was asked for`);
      for (const path of missingVolumes(watched, container)) violated(`${what}: started without its volume at ${path}`);
      const pod = watched.agent?.pods().find(({ metadata }) => metadata.uid === container.podUid);
      const missing = pod === undefined ? [] : missingBefore(container, pod, seen);
      if (missing.length > 0) violated(`${what}: started before ${missing.join(', ')}`);
    };
    return {
      onChange: look,
      onLifeBegan: () => stopped.clear(),
      onCall: ({ room, name, about }: OutsideCall) => {
        if (room !== 'runtime') return;
        if (name === 'startContainer') onStart(about);
        if (name === 'stopContainer' || name === 'stopPodSandbox') stopped.add(about);
      },
    };
  },
};
