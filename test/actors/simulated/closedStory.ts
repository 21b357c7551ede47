/** Takes pods through their life on a node of which all parts are simulated, or all but one. */
import { createAlarm } from '../../../actors/alarm.ts';
import { createNode } from '../../../actors/node/createNode.ts';
import type { NodeAgent } from '../../../actors/node/nodeAgent.ts';
import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import { createRedaction } from '../../../actors/replay/redaction.ts';
import { SimulatedNetwork } from '../../../actors/simulated/simulatedNetwork.ts';
import { startInlineReader } from '../../../actors/simulated/startInlineReader.ts';
import { podsOfAgent, SIMULATED_ENDPOINT } from '../../../actors/store/leftOnDisk.ts';
import { cgroupProcesses } from '../../../cri/simulated/cgroupProcesses.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { seededRandom } from '../../../cri/simulated/objects/ids.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { CgroupTree } from '../../../host/simulated/cgroupTree.ts';
import { openGate } from '../../../host/simulated/gate.ts';
import { MemoryDisk } from '../../../host/simulated/memoryDisk.ts';
import { MemoryFiles } from '../../../host/simulated/memoryFiles.ts';
import { simulatedCgroups } from '../../../host/simulated/simulatedCgroups.ts';
import { SimulatedMounter } from '../../../volume/simulated/simulatedMounter.ts';
import { cgroupFacts } from '../../fakes/cgroups.ts';
import { apart, crashing, everything, small } from './closedPods.ts';
import { JumpingClock } from './jumpingClock.ts';

const place = { rootDir: '/root', podLogsDir: '/log/pods', nodeName: 'node-1', runtimeEndpoint: SIMULATED_ENDPOINT };
const rules = { ...cgroupFacts, version: 'v2' as const };
const capacity = { cpuMillis: 8_000, memoryBytes: 2 ** 34, pods: 110 };
const CONFIG = {
  ...place,
  cgroups: rules,
  capacity,
  hostIps: ['192.0.2.1'],
  fileCheckMs: 20_000,
  staticPodPath: '/manifests',
  manifestUrl: { url: 'http://pods.example/list', headers: [], everyMs: 20_000 },
};

export class ClosedNode {
  readonly errors: string[] = [];
  readonly #without: string;
  readonly #clock = new JumpingClock();
  readonly #disk = new MemoryDisk(this.#clock.now);
  readonly #files = new MemoryFiles(this.#disk);
  readonly #runtime = createSimulatedRuntime({
    clock: this.#clock,
    images: { anyPullable: true },
    features: { userNamespaces: true },
  });
  readonly #tree = new CgroupTree('v2', cgroupProcesses(this.#runtime));
  readonly #states = new Map<string, string>();
  #list: object[] = [small('fetched'), apart('again'), crashing('crashing')];

  constructor(without: string) {
    this.#without = without;
  }

  /** Adds pods from two sources, lets another agent adopt them, resizes one of them, and terminates them all. */
  async story(): Promise<object> {
    this.#disk.createDirectories('/manifests');
    this.#disk.createDirectories('/data/inner');
    await this.#files.writeFile('/manifests/everything.json', JSON.stringify(everything()));
    const first = await this.#startAgent();
    await this.#clock.until('all are ready', this.#areReady);
    const mounts = this.#disk.mounts.map(({ path }) => path.replace(/[0-9a-f]{32}/, 'UID'));
    await first.stop();
    const timersAfterStop = this.#clock.pending;
    this.#states.clear();
    const second = await this.#startAgent();
    await this.#clock.until('they are adopted', this.#areReady);
    const weights = this.#weights();
    await this.#files.writeFile('/manifests/everything.json', JSON.stringify(everything('300m')));
    await this.#clock.until('one is resized', () => this.#weights() !== weights && this.#areReady());
    await this.#clock.until('one has failed thrice', () => this.#attempts().includes(3));
    const explained = [second.explainNode(), second.explain('crashing-node-1'), second.keyframe()].length;
    await this.#files.unlink('/manifests/everything.json');
    this.#list = [];
    await this.#clock.until('they have ended', this.#haveEnded);
    await second.drain();
    await second.stop();
    const left = { mounts: this.#disk.mounts.length, cgroups: this.#tree.paths, timers: this.#clock.pending };
    return { mounts, timersAfterStop, explained, left };
  }

  readonly #areReady = (): boolean =>
    ['everything', 'fetched', 'again'].every((name) => this.#states.get(`${name}-node-1`) === 'Running ready');
  readonly #haveEnded = (): boolean =>
    this.#runtime.contents().sandboxes.length === 0 && this.#files.readdirSync('/root/pods').length === 0;
  readonly #attempts = (): unknown[] => this.#runtime.contents().containers.map(({ metadata }) => metadata?.attempt);
  readonly #weights = (): string => this.#tree.paths.map((path) => this.#tree.readFile(path, 'cpu.weight')).join();

  async #startAgent(): Promise<NodeAgent> {
    const parts = Object.entries(this.#parts()).filter(([name]) => name !== this.#without);
    // The omitted part is always an optional one.
    const agent = await createNode(CONFIG, Object.fromEntries(parts) as unknown as NodeParts);
    agent.subscribe(({ pod }) => {
      const { phase, conditions = [] } = pod.status ?? {};
      const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
      this.#states.set(pod.metadata.name, `${phase}${isReady ? ' ready' : ''}`);
    });
    agent.start();
    return agent;
  }

  #parts(): NodeParts {
    const clock = this.#clock;
    return {
      clock,
      files: this.#files,
      cri: inProcessCri(this.#runtime),
      jitter: seededRandom(7),
      readImageDisk: async () => this.#runtime.imageDisk(),
      startThread: startInlineReader,
      nextTurn: async () => {},
      redaction: createRedaction(Buffer.alloc(32)),
      network: new SimulatedNetwork({ clock, gate: openGate, findServer: this.#serverAt }),
      mounter: new SimulatedMounter(this.#disk, openGate),
      cgroups: simulatedCgroups(this.#tree, openGate, {
        parentCgroup: { cgroupRoot: '', cgroupDriver: 'cgroupfs' },
        rules,
        enforcedLimits: capacity,
        listOwnPods: () => podsOfAgent(place, this.#files),
        wait: (ms, signal) => createAlarm(clock, signal).waitUntil(clock.now() + ms),
        onWarning: (message) => void this.errors.push(message),
      }),
      onError: (source, error) => void this.errors.push(`${source}: ${error}`),
      onManifestProblem: (_level, file, path, message) => void this.errors.push(`${file} ${path} ${message}`),
    };
  }

  readonly #serverAt = (host: string) => {
    const list = () => JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: this.#list });
    if (host === 'pods.example') return { respond: () => ({ body: list() }) };
    return { respond: () => ({ body: 'well' }), health: () => ({ served: 1 }) };
  };
}
