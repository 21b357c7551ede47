/**
 * Requests that a well-behaved agent does not send, and the outcome of each on a CRI runtime: `OK`, the name of the
 * status code, or the observed state.
 */
import {
  ContainerConfig,
  ContainerFilter,
  ContainerStatsFilter,
  ImageSpec,
  LinuxContainerResources,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxStatsFilter,
} from '../../cri/generated/runtime.ts';
import type { CallName, RequestOf } from '../../cri/simulated/faults/callNames.ts';
import { outcomeOf, type RawCalls } from './rawCalls.ts';

type Outcomes = Record<string, string>;

const SLEEPER = ['sh', '-c', "trap 'exit 0' TERM; sleep 1000 & wait"];
/** An ID that no runtime uses. */
const NOBODY = 'f'.repeat(64);
const SHORT = 20;
/**
 * Streams of a command without any, and of one with a terminal, which has no separate stderr even if it is requested.
 */
const NO_STREAM = { tty: false, stdin: false, stdout: false, stderr: false };
const BOTH = { tty: true, stdin: true, stdout: true, stderr: true };

const sandboxConfig = (name: string) =>
  PodSandboxConfig.fromPartial({ metadata: { name, namespace: 'odd', uid: `uid-${name}` }, labels: { pod: name } });

/** Sends all requests. `image` contains a busybox shell and is removed at the end. */
export async function playOddRequests(
  { call }: Pick<RawCalls, 'call'>,
  image: string,
): Promise<Record<string, Outcomes>> {
  const play = new OddRequests(call, image);
  return {
    sandboxes: await play.sandboxes(),
    creating: await play.creating(),
    lives: await play.lives(),
    lists: await play.lists(),
    statistics: await play.statistics(),
    runtime: await play.runtime(),
    images: await play.images(),
  };
}

class OddRequests {
  readonly #call: RawCalls['call'];
  readonly #image: string;

  constructor(call: RawCalls['call'], image: string) {
    this.#call = call;
    this.#image = image;
  }

  async sandboxes(): Promise<Outcomes> {
    const id = await this.#sandbox('sandboxes');
    const config = sandboxConfig('other');
    const status = (podSandboxId: string) => this.#outcome('podSandboxStatus', { podSandboxId, verbose: true });
    return {
      withoutConfig: await this.#outcome('runPodSandbox', { config: undefined, runtimeHandler: '' }),
      withoutMetadata: await this.#outcome('runPodSandbox', {
        config: { ...config, metadata: undefined },
        runtimeHandler: '',
      }),
      unknownHandler: await this.#outcome('runPodSandbox', { config, runtimeHandler: 'nobody-has-this' }),
      afterUnknownHandler: await this.#outcome('runPodSandbox', { config, runtimeHandler: '' }),
      nameTaken: await this.#outcome('runPodSandbox', { config: sandboxConfig('sandboxes'), runtimeHandler: '' }),
      status: await this.#eachId(id, status),
      stop: await this.#eachId(id, (podSandboxId) => this.#outcome('stopPodSandbox', { podSandboxId })),
      stoppedStatus: await status(id),
      remove: await this.#eachId(id, (podSandboxId) => this.#outcome('removePodSandbox', { podSandboxId })),
      nameFree: await this.#outcome('runPodSandbox', { config: sandboxConfig('sandboxes'), runtimeHandler: '' }),
    };
  }

  async creating(): Promise<Outcomes> {
    const id = await this.#sandbox('creating');
    const create = (podSandboxId: string, config: ContainerConfig | undefined) =>
      this.#outcome('createContainer', { podSandboxId, config, sandboxConfig: sandboxConfig('creating') });
    const named = (name: string, image = this.#image) =>
      ContainerConfig.fromPartial({ metadata: { name }, image: { image }, command: SLEEPER });
    const seen: Outcomes = {
      create: await this.#eachId(id, (podSandboxId) => create(podSandboxId, named(`c${podSandboxId.length}`))),
      withoutConfig: await create(id, undefined),
      withoutMetadata: await create(id, { ...named('x'), metadata: undefined }),
      nameTaken: await create(id, named(`c${SHORT}`)),
      nameTakenWithoutImage: await create(id, named(`c${SHORT}`, 'statelet.local/none:1')),
      withoutImage: await create(id, named('x', 'statelet.local/none:1')),
      oddImage: await create(id, named('x', 'Not A Name')),
      afterThese: await create(id, named('x')),
    };
    await this.#call('stopPodSandbox', { podSandboxId: id });
    seen.inStopped = await create(id, named('late'));
    seen.inStoppedWithoutMetadata = await create(id, undefined);
    return seen;
  }

  async lives(): Promise<Outcomes> {
    const id = await this.#container(await this.#sandbox('lives'), 'lives');
    const exec = (cmd: string[], timeout: bigint) => this.#outcome('execSync', { containerId: id, cmd, timeout });
    return {
      ...(await this.#inState('created', id)),
      start: await this.#eachId(id, (containerId) => this.#outcome('startContainer', { containerId })),
      ...(await this.#inState('running', id)),
      execNothing: await exec([], 5n),
      execTooLong: await exec(['sleep', '30'], 1n),
      stop: await this.#eachId(id, (containerId) => this.#outcome('stopContainer', { containerId, timeout: 5n })),
      ...(await this.#inState('exited', id)),
      startExited: await this.#outcome('startContainer', { containerId: id }),
      remove: await this.#eachId(id, (containerId) => this.#outcome('removeContainer', { containerId })),
    };
  }

  async lists(): Promise<Outcomes> {
    const sandbox = await this.#sandbox('lists');
    const id = await this.#container(sandbox, 'lists');
    const containers = async (filter: Partial<ContainerFilter>) => {
      const answer = await this.#call('listContainers', { filter: ContainerFilter.fromPartial(filter) });
      return String(answer.containers.length);
    };
    const sandboxes = async (filter: Partial<PodSandboxFilter>) => {
      const answer = await this.#call('listPodSandbox', { filter: PodSandboxFilter.fromPartial(filter) });
      return String(answer.items.length);
    };
    return {
      containers: await this.#eachId(id, (each) => containers({ id: each, labelSelector: { pod: 'lists' } })),
      containersOf: await this.#eachId(sandbox, (each) => containers({ podSandboxId: each })),
      sandboxes: await this.#eachId(sandbox, (each) => sandboxes({ id: each, labelSelector: { pod: 'lists' } })),
      otherLabel: await containers({ id, labelSelector: { pod: 'other' } }),
      emptyLabel: await containers({ id, labelSelector: { nobody: '' } }),
    };
  }

  async statistics(): Promise<Outcomes> {
    const sandbox = await this.#sandbox('statistics');
    const id = await this.#container(sandbox, 'statistics');
    const count = async (filter: Partial<ContainerStatsFilter>) => {
      const answer = await this.#call('listContainerStats', { filter: ContainerStatsFilter.fromPartial(filter) });
      return answer.stats.map(({ cpu, memory }) => (cpu && memory ? 'figures' : 'none')).join(' ');
    };
    const seen: Outcomes = {
      withoutCgroup: await this.#eachId(sandbox, (podSandboxId) => this.#outcome('podSandboxStats', { podSandboxId })),
      created: await count({ podSandboxId: sandbox.slice(0, SHORT) }),
    };
    await this.#call('startContainer', { containerId: id });
    seen.running = await count({ id: id.slice(0, SHORT) });
    seen.otherLabel = await count({ id, labelSelector: { pod: 'other' } });
    const listed = async (filter: Partial<PodSandboxStatsFilter>) => {
      const asked = { filter: PodSandboxStatsFilter.fromPartial(filter) };
      return outcomeOf(this.#call('listPodSandboxStats', asked));
    };
    seen.ofSandboxes = await this.#eachId(sandbox, (each) =>
      listed({ id: each, labelSelector: { pod: 'statistics' } }),
    );
    seen.ofOtherSandboxes = await listed({ labelSelector: { pod: 'other' } });
    await this.#call('stopPodSandbox', { podSandboxId: sandbox });
    seen.exited = await count({ id });
    seen.ofStoppedSandbox = await listed({ id: sandbox });
    seen.imageFs = await this.#outcome('imageFsInfo', {});
    return seen;
  }

  async runtime(): Promise<Outcomes> {
    const version = async (asked: string) => (await this.#call('version', { version: asked })).runtimeApiVersion;
    const { status, info } = await this.#call('status', { verbose: false });
    const all = (await this.#call('listImages', { filter: undefined })).images;
    const images = async (image: string) => {
      const answer = await this.#call('listImages', { filter: { image: ImageSpec.fromPartial({ image }) } });
      return answer.images.length === all.length ? 'all' : String(answer.images.length);
    };
    const id = all.find(({ repoTags }) => repoTags.includes(this.#image))?.id ?? '';
    return {
      version: await version(''),
      oddVersion: await version('Not A Version'),
      conditions: status?.conditions.map(({ type }) => type).join(' ') ?? '',
      info: Object.keys(info).join(' '),
      imagesByName: await images(this.#image),
      imagesById: await images(id),
      imagesByShortId: await images(id.slice('sha256:'.length, SHORT)),
      imagesByOddName: await images('Not A Name'),
      imagesOfNobody: await images('statelet.local/none:1'),
      imagesOfNoName: await images(''),
    };
  }

  /** Removes the image while one of its containers runs. */
  async images(): Promise<Outcomes> {
    const sandbox = await this.#sandbox('images');
    const container = await this.#container(sandbox, 'images');
    await this.#call('startContainer', { containerId: container });
    const spec = (image: string) => ImageSpec.fromPartial({ image });
    const found = async (image: string) => {
      const answer = await this.#call('imageStatus', { image: spec(image), verbose: true });
      return answer.image ? 'there' : 'not there';
    };
    const { image } = await this.#call('imageStatus', { image: spec(this.#image), verbose: false });
    const id = image?.id ?? '';
    const pull = (name: string) =>
      this.#outcome('pullImage', { image: spec(name), auth: undefined, sandboxConfig: undefined });
    return {
      byId: await found(id),
      byShortId: await found(id.slice('sha256:'.length, SHORT)),
      byOddName: await found('Not A Name'),
      pullNothing: await pull(''),
      pullOddName: await pull('Not A Name'),
      removeUnknown: await this.#outcome('removeImage', { image: spec('statelet.local/none:1') }),
      remove: await this.#outcome('removeImage', { image: spec(this.#image) }),
      removeAgain: await this.#outcome('removeImage', { image: spec(this.#image) }),
      removed: await found(this.#image),
      containerOfRemoved: await this.#outcome('containerStatus', { containerId: container, verbose: true }),
      stopContainerOfRemoved: await this.#outcome('stopContainer', { containerId: container, timeout: 1n }),
      removeSandboxOfRemoved: await this.#outcome('removePodSandbox', { podSandboxId: sandbox }),
    };
  }

  async #inState(state: string, container: string): Promise<Outcomes> {
    const update = (containerId: string, linux?: LinuxContainerResources) =>
      this.#outcome('updateContainerResources', { containerId, linux, windows: undefined, annotations: {} });
    const linux = LinuxContainerResources.fromPartial({ cpuShares: 100n });
    const asks: Record<string, (containerId: string) => Promise<string>> = {
      status: (containerId) => this.#outcome('containerStatus', { containerId, verbose: true }),
      update: (containerId) => update(containerId, linux),
      updateNothing: (containerId) => update(containerId),
      exec: (containerId) => this.#outcome('execSync', { containerId, cmd: ['true'], timeout: 5n }),
      execUrl: (containerId) => this.#outcome('exec', { ...NO_STREAM, containerId, cmd: ['true'] }),
      execUrlBoth: (containerId) => this.#outcome('exec', { ...BOTH, containerId, cmd: ['true'] }),
      attachUrl: (containerId) => this.#outcome('attach', { ...NO_STREAM, containerId }),
      reopen: (containerId) => this.#outcome('reopenContainerLog', { containerId }),
      stats: (containerId) => this.#outcome('containerStats', { containerId }),
    };
    const seen: Outcomes = {};
    for (const [name, ask] of Object.entries(asks)) seen[`${state} ${name}`] = await this.#eachId(container, ask);
    return seen;
  }

  /** Sends the request with a prefix of the ID, the whole ID, an unknown ID, and an empty one. */
  async #eachId(id: string, ask: (id: string) => Promise<string>): Promise<string> {
    const seen: string[] = [];
    for (const each of [id.slice(0, SHORT), id, NOBODY, '']) seen.push(await ask(each));
    return seen.join(' ');
  }

  async #sandbox(name: string): Promise<string> {
    return (await this.#call('runPodSandbox', { config: sandboxConfig(name), runtimeHandler: '' })).podSandboxId;
  }

  async #container(podSandboxId: string, pod: string): Promise<string> {
    const config = ContainerConfig.fromPartial({
      metadata: { name: 'main' },
      image: { image: this.#image },
      command: SLEEPER,
      labels: { pod },
      linux: { resources: { cpuShares: 50n } },
    });
    const request = { podSandboxId, config, sandboxConfig: sandboxConfig(pod) };
    return (await this.#call('createContainer', request)).containerId;
  }

  #outcome<K extends CallName>(name: K, request: RequestOf<K>): Promise<string> {
    return outcomeOf(this.#call(name, request));
  }
}
