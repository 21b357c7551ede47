/**
 * Everything on a node that does not belong to the agent: pods, mounts, cgroups and files of other agents and programs.
 */
import { dirname, join } from 'node:path';
import type { RuntimeEffect, SimulatedContainer } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import type { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import type { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { type PodHost, TemporaryPods } from '../checks/temporaryPods.ts';
import { type ForeignPod, KUBELET_POD_UID, permanentPods, runForeignPod } from './foreignPods.ts';
import { syncAll, writeFile } from './writeFile.ts';

const CGROUPS = '/sys/fs/cgroup';

interface HostPaths {
  readonly root: string;
  readonly logs: string;
  /** Whether the foreign pods are in the same cgroups as the agent's. */
  readonly sharesCgroups: boolean;
}

export class ForeignObjects {
  readonly #disk: MemoryDisk;
  readonly #files: MemoryFiles;
  readonly #runtime: SimulatedRuntime;
  /** The contents of the foreign files, by path. */
  readonly #contents: ReadonlyMap<string, string>;
  readonly #folders: readonly string[];
  readonly #mounts: readonly string[];
  readonly #links: ReadonlyMap<string, string>;
  readonly #pods: readonly ForeignPod[];
  readonly #cgroups: readonly string[];
  /** The paths of all foreign objects on the disk. Everything below them is foreign as well. */
  readonly #paths: readonly string[];
  /** Foreign mounts in the directories of the agent's pods. */
  readonly #temporaryMounts = new Set<string>();
  /**
   * Whether each foreign sandbox or container should be running, by ID. The value is false before it starts and after
   * something other than the agent has stopped it.
   */
  readonly #runs = new Map<string, boolean>();
  readonly #temporaryPods: TemporaryPods;

  constructor(
    { root, logs, sharesCgroups }: HostPaths,
    disk: MemoryDisk,
    files: MemoryFiles,
    runtime: SimulatedRuntime,
  ) {
    this.#disk = disk;
    this.#files = files;
    this.#runtime = runtime;
    this.#temporaryPods = new TemporaryPods(runtime, this.#runs);
    const cgroups = sharesCgroups ? 'kubepods' : 'other-kubepods';
    this.#pods = permanentPods(cgroups);
    this.#cgroups = [
      ...this.#pods.map(({ cgroup }) => cgroup),
      `${cgroups}/burstable/podleft-by-somebody`,
      'system.slice',
    ];
    const directory = `${root}/pods/${KUBELET_POD_UID}`;
    this.#folders = [
      `${root}/pods/foreign`,
      directory,
      `${logs}/default_kubelets_${KUBELET_POD_UID}`,
      '/simulated/data',
    ];
    this.#mounts = [`${directory}/volumes/kubernetes.io~projected/token`, '/simulated/data/share'];
    this.#contents = new Map([
      [`${root}/pods/foreign/etc-hosts`, ''],
      [`${directory}/etc-hosts`, '127.0.0.1 localhost\n'],
      [`${directory}/volumes/kubernetes.io~empty-dir/cache/entry`, 'cached'],
      [`${root}/kubeadm-flags.env`, 'KUBELET_KUBEADM_ARGS=""\n'],
      [`${root}/device-plugins/kubelet.sock`, ''],
      [`${logs}/default_kubelets_${KUBELET_POD_UID}/app/0.log`, 'hello\n'],
      ['/simulated/data/share.txt', 'of nobody here'],
    ]);
    const log = 'kubelets_default_app-0123456789abcdef.log';
    this.#links = new Map([
      [join(logs, '..', 'containers', log), `${logs}/default_kubelets_${KUBELET_POD_UID}/app/0.log`],
    ]);
    this.#paths = [
      ...this.#folders,
      ...this.#mounts,
      ...this.#contents.keys(),
      ...this.#links.keys(),
      ...this.#cgroups.map((path) => `${CGROUPS}/${path}`),
    ];
  }

  /** Creates all foreign objects before the first agent starts. */
  async create(image: string): Promise<void> {
    for (const [path, text] of this.#contents) {
      this.#disk.createDirectories(dirname(path));
      writeFile(this.#disk, path, text);
    }
    for (const [path, target] of this.#links) {
      this.#disk.createDirectories(dirname(path));
      this.#disk.link(target, path);
    }
    for (const path of this.#mounts) this.#disk.createDirectories(path);
    syncAll(this.#disk, this.#disk.rootDirectory);
    for (const each of this.#pods)
      for (const id of await runForeignPod(this.#runtime, each, image)) this.#runs.set(id, true);
  }

  /** Restores mounts and cgroups after a boot of the host. Temporary mounts are gone. */
  boot(cgroups: CgroupTree): void {
    this.#temporaryMounts.clear();
    for (const path of this.#mounts) {
      this.#disk.mount('tmpfs', path);
      writeFile(this.#disk, `${path}/in-memory`, 'theirs');
    }
    for (const path of [...this.#cgroups, ...this.#temporaryPods.cgroups]) cgroups.add(path);
  }

  /** Runs a foreign pod in the cgroups of the agent's pods, unless one with this UID is running already. */
  startPod(uid: string, image: string, host: PodHost): void {
    this.#temporaryPods.start(uid, image, host);
  }

  /** Stops the containers of a temporary pod, if it is running. `removePod` removes the pod afterwards. */
  stopPod(uid: string): void {
    this.#temporaryPods.stop(uid);
  }

  removePod(uid: string, host: PodHost): void {
    this.#temporaryPods.remove(uid, host);
  }

  noteEffect(effect: RuntimeEffect): void {
    this.#temporaryPods.noteEffect(effect);
  }

  /** Mounts a foreign file system in a directory of one of the agent's pods. */
  mountAt(path: string): void {
    if (this.#temporaryMounts.has(path)) return;
    this.#disk.createDirectories(path);
    this.#disk.mount('tmpfs', path);
    writeFile(this.#disk, `${path}/in-memory`, 'theirs');
    this.#temporaryMounts.add(path);
  }

  /** Unmounts the temporary mounts. */
  unmountAll(): void {
    const mounts = new Map(this.#disk.mounts.map((mount) => [mount.path, mount]));
    for (const path of this.#temporaryMounts) {
      const mount = mounts.get(path);
      if (!mount) continue;
      if (this.#isHidden(path)) {
        this.#disk.detach(mount);
        continue;
      }
      this.#disk.unmount(path);
      this.#disk.removeDirectory(path);
    }
    this.#temporaryMounts.clear();
  }

  /** Whether a sandbox or container is foreign. */
  isForeignRun(id: string): boolean {
    return this.#runs.has(id);
  }

  /** Whether an ID or a path is foreign. */
  owns(about: string): boolean {
    if (this.#runs.has(about)) return true;
    if (!about.startsWith('/')) return false;
    const temporaryCgroups = this.#temporaryPods.cgroups.map((path) => `${CGROUPS}/${path}`);
    return [...this.#paths, ...this.#temporaryMounts, ...temporaryCgroups].some(
      (foreignPath) => about.startsWith(foreignPath) && (about[foreignPath.length] ?? '/') === '/',
    );
  }

  ownsCgroup(path: string): boolean {
    return this.owns(`${CGROUPS}/${path}`);
  }

  /** Called when the runtime has lost processes, so that the agent is not blamed for those that no longer run. */
  noteLostProcesses(): void {
    const running = this.#running();
    for (const id of this.#runs.keys()) this.#runs.set(id, running.has(id));
  }

  /** Returns descriptions of the changes to foreign objects. */
  changes(cgroups: CgroupTree): string[] {
    const known = new Set([...this.#runtime.containers(), ...this.#runtime.sandboxes()].map(({ id }) => id));
    const running = this.#running();
    const mounted = new Set(this.#disk.mounts.map(({ path }) => path));
    const paths = new Set(cgroups.paths);
    const missingLinks = [...this.#links.keys()].filter((path) => this.#disk.find(path, 'lstat') === undefined);
    return [
      ...[...this.#runs.keys()].filter((id) => !known.has(id)).map((id) => `${id} is gone from the runtime`),
      ...[...this.#runs].flatMap(([id, runs]) => (runs && !running.has(id) ? [`${id} was stopped`] : [])),
      ...[...this.#contents].flatMap(([path, text]) =>
        this.#contentsOf(path) === text ? [] : [`${path} was changed`],
      ),
      ...missingLinks.map((path) => `the link ${path} is gone`),
      ...[...this.#mounts, ...this.#temporaryMounts]
        .filter((path) => !mounted.has(path))
        .map((path) => `${path} is no longer mounted`),
      ...[...this.#temporaryMounts].flatMap((path) =>
        this.#isHidden(path) || this.#contentsOf(`${path}/in-memory`) === 'theirs' ? [] : [`${path} was emptied`],
      ),
      ...[...this.#cgroups, ...this.#temporaryPods.cgroups]
        .filter((path) => !paths.has(path))
        .map((path) => `the cgroup ${path} is gone`),
    ];
  }

  /**
   * Whether a later mount over a parent directory hides the mount at this path. The mount then still exists, but no
   * path leads to it.
   */
  #isHidden(path: string): boolean {
    const mounts = this.#disk.mounts.map((mount) => mount.path);
    return mounts.slice(mounts.indexOf(path) + 1).some((laterMount) => path.startsWith(`${laterMount}/`));
  }

  #running(): Set<string> {
    const containers = [...this.#runtime.containers()].filter(({ state }: SimulatedContainer) => state === 'running');
    const sandboxes = [...this.#runtime.sandboxes()].filter(({ ready }) => ready);
    return new Set([...containers, ...sandboxes].map(({ id }) => id));
  }

  #contentsOf(path: string): string | undefined {
    return this.#files.existsSync(path) ? this.#files.readFileSync(path) : undefined;
  }
}
