/** Whose turn it is at the files of a pod. */

/**
 * What is done to one pod's files is done one after the other, also when nobody waits for the first any more: a removal
 * must not be overtaken by what it is to remove. Its volumes do not wait for each other.
 */
export function podTurns() {
  const pods = new Map<string, PodTurns>();
  return <T>({ uid, volume }: { uid: string; volume?: string }, act: () => Promise<T>): Promise<T> => {
    const pod = pods.get(uid) ?? { last: Promise.resolve(), volumes: new Map(), left: 0 };
    pods.set(uid, pod);
    const before = volume === undefined ? [pod.last, ...pod.volumes.values()] : [pod.volumes.get(volume) ?? pod.last];
    const turn = Promise.allSettled(before).then(act);
    if (volume !== undefined) pod.volumes.set(volume, turn);
    else [pod.last, pod.volumes] = [turn, new Map()];
    pod.left += 1;
    const forget = () => {
      pod.left -= 1;
      if (pod.left === 0) pods.delete(uid);
    };
    turn.then(forget, forget);
    return turn;
  };
}

interface PodTurns {
  /** The last turn of the whole pod, and those that each volume has had since. */
  last: Promise<unknown>;
  volumes: Map<string, Promise<unknown>>;
  left: number;
}
