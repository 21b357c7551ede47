/** The host, which outlives its agents: the runtime with its containers, the disk and the manifests. */
import { dirname } from 'node:path';
import type { SimulatedServer } from '../../../actors/simulated/connection.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import { createSimulatedRuntime, type SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { slowest } from '../faults/latencies.ts';
import { type RuntimeRestart, RuntimeTroubles } from '../faults/runtimeTroubles.ts';
import { Spells } from '../faults/spells.ts';
import { type DiskTrouble, FlakyRoom, sufferedBy, type UrlTrouble } from '../faults/troubles.ts';
import { Watches } from '../faults/watches.ts';
import type { Random } from '../random.ts';
import type { Fate, OutsideCall, Room } from '../run/outside.ts';
import type { Schedule } from '../run/schedule.ts';
import { type CgroupsHere, HostCgroups } from './hostCgroups.ts';
import { whatIsLeft } from './leftOnHost.ts';
import { MANIFEST_HOST, ManifestPlace } from './manifestPlace.ts';
import { writeFile } from './onDisk.ts';
import { Others } from './others.ts';
import { provide, REGISTRIES } from './provided.ts';
import { serverOfContainer } from './servers.ts';

/** Paths on the simulated disk. */
export const PLACES = {
  root: '/simulated/lib',
  logs: '/simulated/log/pods',
  manifests: '/simulated/manifests',
  classes: '/simulated/classes',
} as const;

export const NODE_NAME = 'node-1';
/** The initial address of the host. */
export const HOST_IP = '192.0.2.1';

/** The image that is present from the start. Others have to be pulled. */
export const PRESENT_IMAGE = 'registry.local/present:1';

/** Duration of a restart of the runtime that the agent requests. */
const RESTARTS_MS = 500;

/** Delay between the exit of a different agent's pod and its removal. */
const REMOVES_MS = 1_500;

/** The full name of a pod, `namespace/name`. */
export const fullName = ({ namespace, podName }: Pick<SimulatedSandbox, 'namespace' | 'podName'>): string =>
  `${namespace}/${podName}`;

interface HostParts {
  /** Called with the effects at the runtime, except for those on the objects of other agents. */
  readonly onEffect: (effect: RuntimeEffect) => void;
  /** Default: `writable`. */
  readonly cgroups?: CgroupsHere | undefined;
}

export class SimulatedHost {
  readonly clock: Schedule;
  readonly disk: MemoryDisk;
  readonly runtime: SimulatedRuntime;
  /** The disk without faults, for everything but the agent. */
  readonly files: MemoryFiles;
  readonly manifests: ManifestPlace;
  readonly troubles: RuntimeTroubles;
  /** The directories that agents watch. */
  readonly watches: Watches;
  /** The addresses of the host. The first is the primary one. */
  addresses: readonly string[] = [HOST_IP];
  /** Returns the fate of a call while the disk has a fault. */
  #diskFate: ((call: OutsideCall) => Fate | undefined) | undefined;
  #flaky: FlakyRoom | undefined;
  readonly #cgroups: HostCgroups;
  readonly #spells: Spells;
  /** Draws the failing calls of a flaky room and the partial effects on a faulty disk. */
  readonly #fates: Random;
  readonly #others: Others;
  /** Whether calls to the runtime have a latency. The initial objects are created without. */
  #isOpen = false;

  constructor(clock: Schedule, random: Random, { onEffect, cgroups = 'writable' }: HostParts) {
    this.clock = clock;
    const latencies = random.fork();
    this.disk = new MemoryDisk(clock.now, () => clock.elapsed);
    this.files = new MemoryFiles(this.disk);
    this.runtime = createSimulatedRuntime({
      clock,
      latency: (call) => (this.#isOpen ? latencies.between(0, slowest(call)) : 0),
      images: { present: [PRESENT_IMAGE], ...REGISTRIES },
      random: random.fork().fraction,
      logCalls: false,
      onEffect: (effect) => {
        this.#log(effect);
        this.troubles.noteEffect(effect);
        this.#others.noteEffect(effect);
        if (!this.#others.runs((effect.container ?? effect.sandbox).id)) onEffect(effect);
      },
    });
    this.#cgroups = new HostCgroups(this.runtime, cgroups);
    for (const place of Object.values(PLACES)) this.disk.makeDirectories(place);
    this.disk.makeDirectories('/etc');
    writeFile(this.disk, '/etc/hosts', '127.0.0.1 localhost\n');
    provide(this.disk, PLACES);
    this.manifests = new ManifestPlace(this.disk, PLACES.manifests);
    this.#spells = new Spells(clock);
    this.watches = new Watches(clock, this.#spells);
    this.troubles = new RuntimeTroubles(this.runtime, { clock, spells: this.#spells, random: random.fork() });
    const others = { ...PLACES, sharesCgroups: random.chance(0.5) };
    this.#fates = random.fork();
    this.#others = new Others(others, this.disk, this.files, this.runtime);
  }

  /** Creates the objects of other agents. */
  async open(): Promise<void> {
    await this.#others.arrive(PRESENT_IMAGE);
    this.#others.boot(this.cgroups);
    this.#isOpen = true;
  }

  /** The cgroups since the last boot. */
  get cgroups(): CgroupTree {
    return this.#cgroups.tree;
  }

  /** The agent's access to the cgroups. */
  get cgroupsAre(): CgroupsHere {
    return this.#cgroups.kind;
  }

  container(id: string): SimulatedContainer | undefined {
    return this.runtime.container(id);
  }

  /** The agent's running containers that match, oldest first. */
  running(isAskedFor: (container: SimulatedContainer) => boolean = () => true): SimulatedContainer[] {
    const found: SimulatedContainer[] = [];
    for (const each of this.runtime.containers()) {
      if (each.state === 'running' && isAskedFor(each) && !this.#others.runs(each.id)) found.push(each);
    }
    return found;
  }

  /** The agent's containers. */
  containers(): SimulatedContainer[] {
    return [...this.runtime.containers()].filter(({ id }) => !this.#others.runs(id));
  }

  sandboxes(): SimulatedSandbox[] {
    return [...this.runtime.sandboxes()].filter(({ id }) => !this.#others.runs(id));
  }

  /** The remains of the agent's pods, except for the pods with the UIDs `but`. */
  left(but: readonly string[] = []): readonly string[] {
    const cgroups = this.#cgroups.ofPods.filter((path) => !this.#others.ownsCgroup(path));
    const isForeign = (path: string) => this.#others.owns(path);
    return whatIsLeft({ ...PLACES, disk: this.disk, files: this.files, cgroups, isForeign }, but);
  }

  /** Whether an ID or a path belongs to a different agent or program. */
  isForeign(about: string): boolean {
    return this.#others.owns(about);
  }

  /** Changes to the objects of other agents and programs. */
  missingOfOthers(): string[] {
    return this.#others.missing(this.cgroups);
  }

  /** The server at an address: a running container, or the server at the manifest URL. */
  serverAt(host: string, port: number): SimulatedServer | undefined {
    if (host === MANIFEST_HOST) return this.manifests.server();
    const there = this.containers().findLast(
      ({ state, sandbox }) => state === 'running' && (sandbox.ip ? [sandbox.ip] : this.addresses).includes(host),
    );
    if (there?.startedAt === undefined) return undefined;
    return serverOfContainer(port, Math.max(0, this.clock.now() - there.startedAt));
  }

  /** Ends all faults. */
  recover(): void {
    this.#spells.endAll();
    const isUnknown = [...this.runtime.containers()].some((each) => this.troubles.isUnknown(each.id));
    if (!this.runtime.isUp || isUnknown) this.runtime.restart();
    // An image whose pull policy is Never would never be pulled.
    if (this.runtime.images.find(PRESENT_IMAGE) === undefined) this.runtime.images.add(PRESENT_IMAGE);
  }

  /** Makes a running container exit, if there is one. */
  exit(which: number, exitCode: number, reason?: string): void {
    const found = nth(this.running(), which);
    if (found) this.runtime.exitContainer(found.id, exitCode, ...(reason === undefined ? [] : [reason]));
  }

  killSandbox(which: number): SimulatedSandbox | undefined {
    const found = nth(this.sandboxes(), which);
    if (found) this.runtime.killSandbox(found.id);
    return found;
  }

  removeSandbox(which: number): SimulatedSandbox | undefined {
    const found = nth(this.sandboxes(), which);
    if (found) this.runtime.removeSandbox(found.id);
    return found;
  }

  /** Lets the OOM killer kill a process in a running container, if there is one. */
  oomKill(which: number, child: boolean): void {
    const found = nth(this.running(), which);
    if (found) this.runtime.oomKill(found.id, { child });
  }

  stopRuntime(how: RuntimeRestart): void {
    this.troubles.restart(how, (id) => !this.#others.runs(id));
    if (!how.keepContainers) this.clock.setTimeout(() => this.#others.lookAgain(), how.downMs);
  }

  /** Restarts the runtime on behalf of the agent. */
  restartRuntime(): void {
    this.stopRuntime({ downMs: RESTARTS_MS, keepContainers: true });
  }

  /** Returns the fate of a call that results from a fault of the host. */
  fateOf(call: OutsideCall): Fate | undefined {
    return this.#diskFate?.(call) ?? this.#flaky?.fateOf(call);
  }

  /** Makes this share of the calls to a room fail, from 0 to 1. */
  failCalls(room: Room, share: number, forMs: number): void {
    this.#flaky = new FlakyRoom(room, share, this.#fates.fork());
    this.#spells.begin('flaky', forMs, () => {
      this.#flaky = undefined;
    });
  }

  sufferFrom(trouble: DiskTrouble, forMs: number): void {
    const random = this.#fates.fork();
    this.#diskFate = (call) => sufferedBy(trouble, call, random);
    this.#spells.begin('disk', forMs, () => {
      this.#diskFate = undefined;
    });
  }

  /** Mounts a foreign file system at the path `at` in the directory of one of the agent's pods, if there is one. */
  mountForeign(which: number, at: string, forMs: number): void {
    const pods = `${PLACES.root}/pods`;
    const own = this.files.existsSync(pods)
      ? // A directory whose name starts with a dot is still being created.
        this.files.readdirSync(pods).filter((uid) => !uid.startsWith('.') && !this.isForeign(`${pods}/${uid}`))
      : [];
    const uid = nth(own, which);
    if (uid === undefined) return;
    this.#others.mountAt(`${pods}/${uid}/${at}`);
    this.#spells.begin('foreign mount', forMs, () => this.#others.unmountAll());
  }

  /** Runs a pod of a different agent for a while. */
  visit(uid: string, forMs: number): void {
    this.#others.come(uid, PRESENT_IMAGE, this);
    this.#spells.begin(`visit ${uid}`, forMs, () => {
      this.#others.end(uid);
      this.clock.setTimeout(() => this.#others.leave(uid, this.cgroups), REMOVES_MS);
    });
  }

  /** Makes cgroups read-only for the agent. */
  freezeCgroups(forMs: number): void {
    this.#cgroups.freeze();
    this.#spells.begin('cgroups', forMs, () => this.#cgroups.thaw());
  }

  loseManifests(forMs: number): void {
    this.manifests.goAway();
    this.#spells.begin('manifests', forMs, () => this.manifests.comeBack());
  }

  breakUrl(trouble: UrlTrouble, forMs: number): void {
    this.manifests.urlTrouble = trouble;
    this.#spells.begin('url', forMs, () => {
      this.manifests.urlTrouble = undefined;
    });
  }

  /** Creates the log of a container that starts, if its directory exists. */
  #log({ kind, container }: RuntimeEffect): void {
    if (kind !== 'started' || !container?.logPath || !this.files.existsSync(dirname(container.logPath))) return;
    writeFile(this.disk, container.logPath, '');
  }

  /** Cuts the power. All processes stop, and only synced data remain on the disk. */
  cutPower(random: Random): void {
    this.disk.cutPower(random.fraction);
    this.#cgroups.boot();
    this.runtime.restart({ keepContainers: false });
    this.#others.boot(this.cgroups);
    this.#others.lookAgain();
  }
}

/** Returns the item at an index modulo the length. */
const nth = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)];
