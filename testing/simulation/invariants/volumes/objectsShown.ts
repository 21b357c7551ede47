import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import { findContainerByName } from '../../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import type { OutsideCall } from '../../run/gate.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { Undisturbed } from '../progress/undisturbed.ts';
import { ObjectVersions } from './objectVersions.ts';
import { otherPaths, possibleContents, sourcesOf, type VolumeFiles, variableNeeds } from './podNeeds.ts';
import { expiredTokens, wrongTokens } from './tokensShown.ts';
import { directoryOf, volumeFiles } from './volumeFiles.ts';

/**
 * Minimum interval between two writes of a volume, in milliseconds. Calls that overtake each other may make it slightly
 * shorter than a second.
 */
const SECOND_MS = 1_000 - 10;
/**
 * Maximum age in milliseconds of the data with which a container is created. They are read before the container gets
 * its start slot.
 */
const READ_WITHIN_MS = 5 * 60_000;
/**
 * Time in milliseconds after which everything has been retried, because this is the longest wait of a volume or an
 * object watch.
 */
const CALM_AFTER_MS = 4 * 60_000;

/** Returns the volumes of running pods that are not being deleted. */
const volumesOf = ({ agent, host, cluster }: Watched): (readonly [Pod, Volume])[] => {
  const there = new Set(cluster?.pods().flatMap(({ uid, isDeleted }) => (isDeleted ? [] : [uid])));
  const running = new Set(host.running().map(({ podUid }) => podUid));
  const pods = agent?.pods().filter(({ metadata: { uid } }) => there.has(uid) && running.has(uid)) ?? [];
  return pods.flatMap((pod) => pod.spec.volumes?.map((volume) => [pod, volume] as const) ?? []);
};

/** Returns the files that come from objects, as JSON. The order of trust anchors does not matter. */
const ofObjects = (texts: VolumeFiles, volume: Volume): string => {
  const others = otherPaths(volume);
  const anchors = new Set(sourcesOf(volume).flatMap(({ clusterTrustBundle }) => clusterTrustBundle?.path ?? []));
  const shown = [...texts].filter(([path]) => !others.includes(path));
  const inOrder = (text: string) => text.split(/(?<=-----END CERTIFICATE-----\n)/).toSorted();
  const all = shown.map(([path, text]) => [path, anchors.has(path) ? [...new Set(inOrder(text))] : text] as const);
  return JSON.stringify(all.toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

/** Returns descriptions of volumes whose files differ from their objects. */
function wrongTexts(watched: Watched, versions: ObjectVersions): string[] {
  return volumesOf(watched).flatMap(([pod, volume]) => {
    const directory = directoryOf(pod, volume);
    const wanted = possibleContents(volume, versions)?.map((each) => ofObjects(each, volume));
    if (directory === undefined || wanted === undefined) return [];
    const shown = ofObjects(volumeFiles(watched.host, directory), volume);
    if (wanted.includes(shown)) return [];
    return [`${pod.metadata.name}: its volume ${volume.name} shows ${shown} instead of ${wanted.join(' or ')}`];
  });
}

/** Returns descriptions of variables of a new container that differ from all recent versions of their object. */
function wrongVariables({ host, podOf }: Watched, versions: ObjectVersions, effect: RuntimeEffect): string[] {
  const { kind, container } = effect;
  if (kind !== 'created' || container === undefined) return [];
  const pod = podOf(container.podUid);
  const spec = pod && findContainerByName(pod.spec, container.containerName)?.container;
  if (spec === undefined) return [];
  const variables = new Map(container.config.envs.map(({ key, value }) => [key, Buffer.from(value).toString()]));
  return variableNeeds(spec).flatMap(({ variable, of, name, keys: [key = ''], optional }) => {
    const recentVersions = versions.since(of, name, host.clock.elapsed - READ_WITHIN_MS);
    const value = variables.get(variable);
    const isKnown = recentVersions.some((object) => object?.data.get(key) === value);
    if (isKnown && (value !== undefined || optional)) return [];
    return [
      `${container.podName} ${container.containerName} is created with ${variable} ${value}, ` +
        `which ${name} has never contained`,
    ];
  });
}

/** Node times of the last write of each volume. */
class VolumeWrites {
  readonly #watched: Watched;
  readonly #at = new Map<string, number>();

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Returns the volume that is written too early, with the time since its last write in milliseconds. */
  note({ target, name, about }: OutsideCall): readonly [directory: string, ms: number] | undefined {
    if (target !== 'disk' || name !== 'rename' || !about.endsWith('/..data_tmp')) return undefined;
    const { elapsed } = this.#watched.host.clock;
    const before = this.#at.get(about) ?? Number.NEGATIVE_INFINITY;
    this.#at.set(about, elapsed);
    return elapsed - before < SECOND_MS ? [about, elapsed - before] : undefined;
  }

  /** Forgets the volumes of a changed pod, because their files are written immediately. */
  forget(uid: string): void {
    for (const about of this.#at.keys()) if (about.includes(`/pods/${uid}/`)) this.#at.delete(about);
  }

  /** Forgets all writes after a failure, because a retry writes the current state immediately. */
  clear(): void {
    this.#at.clear();
  }
}

export const objectsShown: Invariant = {
  number: 11,
  description:
    'The volumes of running pods contain the current objects, and their tokens are valid and belong to the pod. ' +
    'While the API server responds, no token expires. A volume is written at most once a second. A container is ' +
    'created with values that its objects have had.',
  follow: (watched, violated) => {
    const { cluster } = watched;
    if (cluster === undefined) return {};
    const versions = new ObjectVersions(watched);
    const writes = new VolumeWrites(watched);
    const undisturbed = new Undisturbed(watched);
    cluster.watchPods(({ type, now }) => {
      if (type === 'MODIFIED') writes.forget(now.uid);
    });
    // If an object is missing, neither the volume nor its token is written.
    const whole = () => volumesOf(watched).filter(([, volume]) => possibleContents(volume, versions) !== undefined);
    const checkSettled = () => {
      const isOld = versions.changedAt < watched.host.clock.elapsed - CALM_AFTER_MS;
      if (!isOld || undisturbed.lastsMs < CALM_AFTER_MS) return;
      for (const each of wrongTexts(watched, versions)) violated(each);
      for (const each of expiredTokens(watched, whole(), undisturbed.since)) violated(each);
    };
    return {
      onCall: (call, fault) => {
        undisturbed.noteCall(call, fault);
        if (fault !== undefined) writes.clear();
        const written = writes.note(call);
        if (written) violated(`${written[0]} is written again after ${written[1]} ms`);
      },
      onEffect: (effect) => {
        for (const each of wrongVariables(watched, versions, effect)) violated(each);
      },
      onAgentStarted: () => {
        undisturbed.disturb();
        writes.clear();
      },
      beforeJump: undisturbed.disturb,
      whole: checkSettled,
      atRest: () => {
        for (const each of wrongTexts(watched, versions)) violated(each);
        for (const each of wrongTokens(watched, whole())) violated(each);
      },
    };
  },
};
