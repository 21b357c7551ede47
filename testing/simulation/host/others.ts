/** What is on a node beside the agent and is none of its business: other kubelets' pods, mounts, cgroups and files. */
import { dirname, join } from 'node:path';
import type { RuntimeEffect, SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import type { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { type Visited, Visits } from '../checks/visits.ts';
import { syncAll, writeFile } from './onDisk.ts';
import { KUBELETS, type OtherPod, residents, runOther } from './otherPods.ts';

const CGROUPS = '/sys/fs/cgroup';

interface Place {
  readonly root: string;
  readonly logs: string;
  /** Whether their pods are in the cgroups that the agent's are in. */
  readonly sharesCgroups: boolean;
}

export class Others {
  readonly #disk: MemoryDisk;
  readonly #files: MemoryFiles;
  readonly #runtime: SimulatedRuntime;
  /** What of the disk is theirs, with what is in the files. */
  readonly #contents: ReadonlyMap<string, string>;
  readonly #folders: readonly string[];
  readonly #mounts: readonly string[];
  readonly #links: ReadonlyMap<string, string>;
  readonly #pods: readonly OtherPod[];
  readonly #cgroups: readonly string[];
  /** All paths that are theirs, with all below them. */
  readonly #places: readonly string[];
  /** What they have mounted in directories of the agent's. */
  readonly #guests = new Set<string>();
  /** The sandboxes and containers that are theirs; false where one has ended that somebody else has ended. */
  readonly #runs = new Map<string, boolean>();
  readonly #visits: Visits;

  constructor({ root, logs, sharesCgroups }: Place, disk: MemoryDisk, files: MemoryFiles, runtime: SimulatedRuntime) {
    this.#disk = disk;
    this.#files = files;
    this.#runtime = runtime;
    this.#visits = new Visits(runtime, this.#runs);
    const cgroups = sharesCgroups ? 'kubepods' : 'other-kubepods';
    this.#pods = residents(cgroups);
    this.#cgroups = [
      ...this.#pods.map(({ cgroup }) => cgroup),
      `${cgroups}/burstable/podleft-by-somebody`,
      'system.slice',
    ];
    const directory = `${root}/pods/${KUBELETS}`;
    this.#folders = [`${root}/pods/foreign`, directory, `${logs}/default_kubelets_${KUBELETS}`, '/simulated/data'];
    this.#mounts = [`${directory}/volumes/kubernetes.io~projected/token`, '/simulated/data/share'];
    this.#contents = new Map([
      [`${root}/pods/foreign/etc-hosts`, ''],
      [`${directory}/etc-hosts`, '127.0.0.1 localhost\n'],
      [`${directory}/volumes/kubernetes.io~empty-dir/cache/entry`, 'cached'],
      [`${root}/cpu_manager_state`, '{}'],
      [`${root}/device-plugins/kubelet.sock`, ''],
      [`${logs}/default_kubelets_${KUBELETS}/app/0.log`, 'hello\n'],
      ['/simulated/data/share.txt', 'of nobody here'],
    ]);
    const log = 'kubelets_default_app-0123456789abcdef.log';
    this.#links = new Map([[join(logs, '..', 'containers', log), `${logs}/default_kubelets_${KUBELETS}/app/0.log`]]);
    this.#places = [
      ...this.#folders,
      ...this.#mounts,
      ...this.#contents.keys(),
      ...this.#links.keys(),
      ...this.#cgroups.map((path) => `${CGROUPS}/${path}`),
    ];
  }

  /** Puts it all there, before any agent starts. */
  async arrive(image: string): Promise<void> {
    for (const [path, text] of this.#contents) {
      this.#disk.makeDirectories(dirname(path));
      writeFile(this.#disk, path, text);
    }
    for (const [path, target] of this.#links) {
      this.#disk.makeDirectories(dirname(path));
      this.#disk.link(target, path);
    }
    for (const path of this.#mounts) this.#disk.makeDirectories(path);
    syncAll(this.#disk, this.#disk.root);
    for (const each of this.#pods)
      for (const id of await runOther(this.#runtime, each, image)) this.#runs.set(id, true);
  }

  /** What they have anew after each start of the host, which has taken away what they mounted for a while. */
  boot(cgroups: CgroupTree): void {
    this.#guests.clear();
    for (const path of this.#mounts) {
      this.#disk.mount('tmpfs', path);
      writeFile(this.#disk, `${path}/in-memory`, 'theirs');
    }
    for (const path of [...this.#cgroups, ...this.#visits.cgroups]) cgroups.add(path);
  }

  /** A pod of this UID comes to the cgroups of the agent's pods, unless one is here already. */
  come(uid: string, image: string, host: Visited): void {
    this.#visits.come(uid, image, host);
  }

  /** Its agent ends what runs in it, and removes it later, if it has come. */
  end(uid: string): void {
    this.#visits.end(uid);
  }

  leave(uid: string, cgroups: CgroupTree): void {
    this.#visits.leave(uid, cgroups);
  }

  noteEffect(effect: RuntimeEffect): void {
    this.#visits.noteEffect(effect);
  }

  /** They mount something in a directory of the agent's. */
  mountAt(path: string): void {
    if (this.#guests.has(path)) return;
    this.#disk.makeDirectories(path);
    this.#disk.mount('tmpfs', path);
    writeFile(this.#disk, `${path}/in-memory`, 'theirs');
    this.#guests.add(path);
  }

  /** They take away what they had mounted there. */
  unmountAll(): void {
    const mounts = new Map(this.#disk.mounts.map((mount) => [mount.path, mount]));
    for (const path of this.#guests) {
      const mount = mounts.get(path);
      if (!mount) continue;
      if (this.#isHidden(path)) {
        this.#disk.detach(mount);
        continue;
      }
      this.#disk.unmount(path);
      this.#disk.removeDirectory(path);
    }
    this.#guests.clear();
  }

  /** Whether a sandbox or container is theirs. */
  runs(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Whether an id, a path or a cgroup is theirs. */
  owns(about: string): boolean {
    if (this.#runs.has(about)) return true;
    if (!about.startsWith('/')) return false;
    const visited = this.#visits.cgroups.map((path) => `${CGROUPS}/${path}`);
    return [...this.#places, ...this.#guests, ...visited].some(
      (place) => about.startsWith(place) && (about[place.length] ?? '/') === '/',
    );
  }

  ownsCgroup(path: string): boolean {
    return this.owns(`${CGROUPS}/${path}`);
  }

  /** The runtime has lost processes: those that do not run any more nobody here has ended. */
  lookAgain(): void {
    const running = this.#running();
    for (const id of this.#runs.keys()) this.#runs.set(id, running.has(id));
  }

  /** What of it is not as it was. */
  missing(cgroups: CgroupTree): string[] {
    const known = new Set([...this.#runtime.containers(), ...this.#runtime.sandboxes()].map(({ id }) => id));
    const running = this.#running();
    const mounted = new Set(this.#disk.mounts.map(({ path }) => path));
    const paths = new Set(cgroups.paths);
    return [
      ...[...this.#runs.keys()].filter((id) => !known.has(id)).map((id) => `${id} is gone from the runtime`),
      ...[...this.#runs].flatMap(([id, runs]) => (runs && !running.has(id) ? [`${id} was ended`] : [])),
      ...[...this.#contents].flatMap(([path, text]) => (this.#textAt(path) === text ? [] : [`${path} was changed`])),
      ...[...this.#links.keys()].filter((path) => this.#disk.find(path, 'lstat') === undefined),
      ...[...this.#mounts, ...this.#guests]
        .filter((path) => !mounted.has(path))
        .map((path) => `${path} is not mounted any more`),
      ...[...this.#guests].flatMap((path) =>
        this.#isHidden(path) || this.#textAt(`${path}/in-memory`) === 'theirs' ? [] : [`${path} was emptied`],
      ),
      ...[...this.#cgroups, ...this.#visits.cgroups]
        .filter((path) => !paths.has(path))
        .map((path) => `the cgroup ${path} is gone`),
    ];
  }

  /** Whether a folder above it was mounted over since: what they have mounted is there, and no path leads to it. */
  #isHidden(path: string): boolean {
    const mounts = this.#disk.mounts.map((mount) => mount.path);
    return mounts.slice(mounts.indexOf(path) + 1).some((above) => path.startsWith(`${above}/`));
  }

  #running(): Set<string> {
    const containers = [...this.#runtime.containers()].filter(({ state }: SimulatedContainer) => state === 'running');
    const sandboxes = [...this.#runtime.sandboxes()].filter(({ ready }) => ready);
    return new Set([...containers, ...sandboxes].map(({ id }) => id));
  }

  #textAt(path: string): string | undefined {
    return this.#files.existsSync(path) ? this.#files.readFileSync(path) : undefined;
  }
}
