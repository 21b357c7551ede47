/** What outlives an agent: the runtime with its containers, the disk, and the manifests that somebody puts on it. */
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

/** Where things lie on the simulated disk. */
export const PLACES = {
  root: '/simulated/lib',
  logs: '/simulated/log/pods',
  manifests: '/simulated/manifests',
  classes: '/simulated/classes',
} as const;

export const NODE_NAME = 'node-1';
/** The address of the host, until it gets others. */
export const HOST_IP = '192.0.2.1';

/** The image that is on the node from the start; others have to be pulled. */
export const PRESENT_IMAGE = 'registry.local/present:1';

/** How long the runtime is away when it is to start again. */
const RESTARTS_MS = 500;

/** How long after its end another agent removes a pod. */
const REMOVES_MS = 1_500;

/** The full name of a pod. */
export const fullName = ({ namespace, podName }: Pick<SimulatedSandbox, 'namespace' | 'podName'>): string =>
  `${namespace}/${podName}`;

interface HostParts {
  /** Told what happens at the runtime, but to what is somebody else's. */
  readonly onEffect: (effect: RuntimeEffect) => void;
  /** Absent: writable. */
  readonly cgroups?: CgroupsHere | undefined;
}

export class SimulatedHost {
  readonly clock: Schedule;
  readonly disk: MemoryDisk;
  readonly runtime: SimulatedRuntime;
  /** The disk as everybody else sees it, whom no fault concerns. */
  readonly files: MemoryFiles;
  readonly manifests: ManifestPlace;
  readonly troubles: RuntimeTroubles;
  /** The directories that agents watch. */
  readonly watches: Watches;
  /** The host's own, the primary first. */
  addresses: readonly string[] = [HOST_IP];
  /** What the disk suffers from, if anything. */
  #diskFate: ((call: OutsideCall) => Fate | undefined) | undefined;
  #flaky: FlakyRoom | undefined;
  readonly #cgroups: HostCgroups;
  readonly #spells: Spells;
  /** Draws which calls of a flaky room fail, and what a disk in trouble leaves of what was asked for. */
  readonly #fates: Random;
  readonly #others: Others;
  /** Whether calls to the runtime take their time; what is there from the start was made at once. */
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

  /** Puts there what is none of the agent's business. */
  async open(): Promise<void> {
    await this.#others.arrive(PRESENT_IMAGE);
    this.#others.boot(this.cgroups);
    this.#isOpen = true;
  }

  /** Those of the present boot. */
  get cgroups(): CgroupTree {
    return this.#cgroups.tree;
  }

  /** What an agent can do with them. */
  get cgroupsAre(): CgroupsHere {
    return this.#cgroups.kind;
  }

  container(id: string): SimulatedContainer | undefined {
    return this.runtime.container(id);
  }

  /** The containers that run and are not somebody else's, of those that are asked for, the oldest first. */
  running(isAskedFor: (container: SimulatedContainer) => boolean = () => true): SimulatedContainer[] {
    const found: SimulatedContainer[] = [];
    for (const each of this.runtime.containers()) {
      if (each.state === 'running' && isAskedFor(each) && !this.#others.runs(each.id)) found.push(each);
    }
    return found;
  }

  /** The containers that are not somebody else's. */
  containers(): SimulatedContainer[] {
    return [...this.runtime.containers()].filter(({ id }) => !this.#others.runs(id));
  }

  sandboxes(): SimulatedSandbox[] {
    return [...this.runtime.sandboxes()].filter(({ id }) => !this.#others.runs(id));
  }

  /** What is there of the agent's pods, but of those of these UIDs. */
  left(but: readonly string[] = []): readonly string[] {
    const cgroups = this.#cgroups.ofPods.filter((path) => !this.#others.ownsCgroup(path));
    const isForeign = (path: string) => this.#others.owns(path);
    return whatIsLeft({ ...PLACES, disk: this.disk, files: this.files, cgroups, isForeign }, but);
  }

  /** Whether an id or a path is somebody else's. */
  isForeign(about: string): boolean {
    return this.#others.owns(about);
  }

  /** What of others is not as it was. */
  missingOfOthers(): string[] {
    return this.#others.missing(this.cgroups);
  }

  /** What is at an address: a container that runs, or the server of manifests. */
  serverAt(host: string, port: number): SimulatedServer | undefined {
    if (host === MANIFEST_HOST) return this.manifests.server();
    const there = this.containers().findLast(
      ({ state, sandbox }) => state === 'running' && (sandbox.ip ? [sandbox.ip] : this.addresses).includes(host),
    );
    if (there?.startedAt === undefined) return undefined;
    return serverOfContainer(port, Math.max(0, this.clock.now() - there.startedAt));
  }

  /** Everything is well again. */
  recover(): void {
    this.#spells.endAll();
    const isUnknown = [...this.runtime.containers()].some((each) => this.troubles.isUnknown(each.id));
    if (!this.runtime.isUp || isUnknown) this.runtime.restart();
    // Nobody pulls one whose policy forbids it.
    if (this.runtime.images.find(PRESENT_IMAGE) === undefined) this.runtime.images.add(PRESENT_IMAGE);
  }

  /** Ends the process of one of the containers that run, if any does. */
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

  /** Ends a process in one of the containers that run for want of memory. */
  oomKill(which: number, child: boolean): void {
    const found = nth(this.running(), which);
    if (found) this.runtime.oomKill(found.id, { child });
  }

  stopRuntime(how: RuntimeRestart): void {
    this.troubles.restart(how, (id) => !this.#others.runs(id));
    if (!how.keepContainers) this.clock.setTimeout(() => this.#others.lookAgain(), how.downMs);
  }

  /** The agent lets it start again. */
  restartRuntime(): void {
    this.stopRuntime({ downMs: RESTARTS_MS, keepContainers: true });
  }

  /** What becomes of a call for what the host suffers from. */
  fateOf(call: OutsideCall): Fate | undefined {
    return this.#diskFate?.(call) ?? this.#flaky?.fateOf(call);
  }

  /** So many of the calls to a room fail, from 0 to 1. */
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

  /** Somebody else mounts something in the directory of one of the agent's pods, if there is one; `at` is its path there. */
  mountForeign(which: number, at: string, forMs: number): void {
    const pods = `${PLACES.root}/pods`;
    const own = this.files.existsSync(pods)
      ? // One that is only being made has yet to get its name.
        this.files.readdirSync(pods).filter((uid) => !uid.startsWith('.') && !this.isForeign(`${pods}/${uid}`))
      : [];
    const uid = nth(own, which);
    if (uid === undefined) return;
    this.#others.mountAt(`${pods}/${uid}/${at}`);
    this.#spells.begin('foreign mount', forMs, () => this.#others.unmountAll());
  }

  /** A pod of another agent comes for a while. */
  visit(uid: string, forMs: number): void {
    this.#others.come(uid, PRESENT_IMAGE, this);
    this.#spells.begin(`visit ${uid}`, forMs, () => {
      this.#others.end(uid);
      this.clock.setTimeout(() => this.#others.leave(uid, this.cgroups), REMOVES_MS);
    });
  }

  /** No cgroup can be changed by the agent. */
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

  /** A container that starts gets its log, where there is a directory for it. */
  #log({ kind, container }: RuntimeEffect): void {
    if (kind !== 'started' || !container?.logPath || !this.files.existsSync(dirname(container.logPath))) return;
    writeFile(this.disk, container.logPath, '');
  }

  /** The host loses its power and comes back: nothing runs any more, and of the disk there is what was synced. */
  cutPower(random: Random): void {
    this.disk.cutPower(random.fraction);
    this.#cgroups.boot();
    this.runtime.restart({ keepContainers: false });
    this.#others.boot(this.cgroups);
    this.#others.lookAgain();
  }
}

/** Counted round as often as it takes. */
const nth = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)];
