/**
 * A story with the same outcome on every CRI runtime. Its responses are returned as plain data, in which IDs are
 * replaced by names.
 */

import { NodeFailure } from '../../base/failure.ts';
import { ContainerState, NamespaceMode, PodSandboxState } from '../../cri/generated/runtime.ts';
import { Actions, NOBODY, type ScenarioInput } from './scenarioActions.ts';

export type Observations = Record<string, unknown>;

const SLEEPER = ['sh', '-c', "trap 'exit 0' TERM; sleep 1000 & wait"];
const STUBBORN = ['sh', '-c', "trap '' TERM; sleep 1000"];

/** Plays the whole story. Only a failure leaves anything behind. */
export async function playScenario(input: ScenarioInput): Promise<Observations> {
  const play = new Actions(input);
  return {
    images: await imagesStory(input),
    names: await namesStory(play),
    lives: await livesStory(play),
    filters: await filtersStory(play),
    stopping: await stoppingStory(play),
    absent: await absentStory(play),
  };
}

async function imagesStory({ cri, image, signal }: ScenarioInput): Promise<Observations> {
  const spec = (name: string) => ({
    image: name,
    annotations: {},
    userSpecifiedImage: '',
    runtimeHandler: '',
    imageRef: '',
  });
  const status = (name: string) => cri.imageStatus({ image: spec(name), verbose: false }, { signal });
  const present = await status(image);
  const listed = await cri.listImages({ filter: undefined }, { signal });
  return {
    version: (await cri.version({ version: 'v1' }, { signal })).runtimeApiVersion,
    presentHasTag: present.image?.repoTags.includes(image),
    listed: listed.images.some(({ id }) => id === present.image?.id),
    absent: (await status('statelet.local/nobody-has-this:1')).image ?? null,
    removeAbsent: await outcome(cri.removeImage({ image: spec('statelet.local/nobody-has-this:1') }, { signal })),
  };
}

async function namesStory(play: Actions): Promise<Observations> {
  const sandbox = await play.sandbox('names');
  const twice = await outcome(play.sandbox('names'));
  const container = await play.container(sandbox, 'names', 'web', SLEEPER);
  const containerTwice = await outcome(play.container(sandbox, 'names', 'web', SLEEPER));
  const nextAttempt = await outcome(play.container(sandbox, 'names', 'web', SLEEPER, 1));
  const withoutImage = await outcome(play.container(sandbox, 'names', 'no-image', SLEEPER, 0, 'statelet.local/none:1'));
  await play.removeContainer(container);
  const afterRemoval = await outcome(play.container(sandbox, 'names', 'web', SLEEPER));
  await play.removeSandbox(sandbox);
  const again = await play.sandbox('names');
  await play.removeSandbox(again);
  return play.plain({ twice, containerTwice, nextAttempt, withoutImage, afterRemoval });
}

async function livesStory(play: Actions): Promise<Observations> {
  const sandbox = await play.sandbox('lives');
  const seen: Observations = { sandbox: [await play.sandboxState(sandbox), await play.sandboxDetails(sandbox)] };
  const sleeper = await play.container(sandbox, 'lives', 'sleeper', SLEEPER);
  seen.details = [await play.containerDetails(sleeper), await play.listedDetails(sleeper)];
  seen.created = await play.containerState(sleeper);
  seen.execInCreated = await outcome(play.exec(sleeper, ['true']));
  seen.stopCreated = await outcome(play.stop(sleeper, 5));
  await play.start(sleeper);
  await play.wait(300);
  seen.running = await play.containerState(sleeper);
  seen.startTwice = await outcome(play.start(sleeper));
  seen.exec = [await play.exec(sleeper, ['true']), await play.exec(sleeper, ['sh', '-c', 'exit 7'])];
  seen.execTooLong = await outcome(play.exec(sleeper, ['sleep', '20'], 1n));
  await play.stop(sleeper, 5);
  seen.stopped = await play.containerState(sleeper);
  seen.stopStopped = await outcome(play.stop(sleeper, 5));
  seen.startStopped = await outcome(play.start(sleeper));
  seen.execInStopped = await outcome(play.exec(sleeper, ['true']));
  seen.succeeded = await play.runToEnd(sandbox, 'lives', 'succeeded', ['true'], 500);
  seen.failed = await play.runToEnd(sandbox, 'lives', 'failed', ['sh', '-c', 'sleep 0.2; exit 3'], 900);
  seen.stubborn = await play.runAndStop(sandbox, 'lives', 'stubborn', STUBBORN, 1);
  seen.killed = await play.runAndStop(sandbox, 'lives', 'killed', SLEEPER, 0);
  seen.removeRunning = await outcome(play.removeRunning(sandbox, 'lives', 'removed', SLEEPER));
  await play.removeSandbox(sandbox);
  return play.plain(seen);
}

async function filtersStory(play: Actions): Promise<Observations> {
  const one = await play.sandbox('one');
  const two = await play.sandbox('two');
  const inOne = await play.container(one, 'one', 'web', SLEEPER);
  const inTwo = await play.container(two, 'two', 'web', SLEEPER);
  await play.start(inTwo);
  const { CONTAINER_CREATED: CREATED, CONTAINER_RUNNING: RUNNING } = ContainerState;
  await play.stopSandbox(two);
  const seen = {
    bySandbox: await play.list({ podSandboxId: one }),
    byState: await play.list({ state: { state: CREATED } }),
    byStateAndSandbox: await play.list({ podSandboxId: two, state: { state: RUNNING } }),
    byLabel: await play.list({ labelSelector: { pod: 'two' } }),
    byId: await play.list({ id: inOne }),
    byUnknownId: await play.list({ id: NOBODY }),
    sandboxesById: await play.listSandboxes({ id: two }),
    sandboxesReady: await play.listSandboxes({ state: { state: PodSandboxState.SANDBOX_READY } }),
    sandboxesNotReady: await play.listSandboxes({ state: { state: PodSandboxState.SANDBOX_NOTREADY } }),
    sandboxesByLabel: await play.listSandboxes({ labelSelector: { pod: 'one' } }),
  };
  await play.removeSandbox(one);
  await play.removeSandbox(two);
  return play.plain(seen);
}

async function stoppingStory(play: Actions): Promise<Observations> {
  const sandbox = await play.sandbox('stopping');
  const running = await play.container(sandbox, 'stopping', 'running', SLEEPER);
  const waiting = await play.container(sandbox, 'stopping', 'waiting', SLEEPER);
  await play.start(running);
  await play.stopSandbox(sandbox);
  const seen: Observations = {
    sandbox: await play.sandboxState(sandbox),
    running: await play.containerState(running),
    waiting: await play.containerState(waiting),
    again: await outcome(play.stopSandbox(sandbox)),
    create: await outcome(play.container(sandbox, 'stopping', 'late', SLEEPER)),
    start: await outcome(play.start(waiting)),
    afterStart: await play.containerState(waiting),
  };
  await play.removeSandbox(sandbox);
  seen.removed = await outcome(play.sandboxState(sandbox));
  seen.containers = await play.list({ podSandboxId: sandbox });
  seen.container = await outcome(play.containerState(running));
  seen.removeAgain = await outcome(play.removeSandbox(sandbox));
  seen.stopRemoved = await outcomeOfStop(play.stopSandbox(sandbox));
  const onHost = await play.sandbox('on-host', NamespaceMode.NODE);
  seen.onHost = [await play.sandboxState(onHost), await play.sandboxDetails(onHost)];
  await play.removeSandbox(onHost);
  return play.plain(seen);
}

async function absentStory(play: Actions): Promise<Observations> {
  const nobody = NOBODY;
  return play.plain({
    sandboxStatus: await outcome(play.sandboxState(nobody)),
    stopSandbox: await outcomeOfStop(play.stopSandbox(nobody)),
    removeSandbox: await outcome(play.removeSandbox(nobody)),
    create: await outcome(play.container(nobody, 'nobody', 'web', SLEEPER)),
    containerStatus: await outcome(play.containerState(nobody)),
    start: await outcome(play.start(nobody)),
    stop: await outcomeOfStop(play.stop(nobody, 1)),
    remove: await outcome(play.removeContainer(nobody)),
    exec: await outcome(play.exec(nobody, ['true'])),
  });
}

/** Returns `ok`, or the reason and message of the failure. */
async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof NodeFailure) return `${error.reason}: ${error.message}`;
    throw error;
  }
}

/**
 * Returns the same as `outcome`, but `gone` for an object that does not exist: containerd up to 1.6 fails to stop it,
 * and later versions succeed.
 */
async function outcomeOfStop(call: Promise<unknown>): Promise<string> {
  const seen = await outcome(call);
  return seen === 'ok' || seen.startsWith('NotFound: ') ? 'gone' : seen;
}
