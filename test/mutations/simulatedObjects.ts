/** Faults in what pods get from a cluster, which stories about objects and tokens find. */
import { numberOfStory, type SeededFault } from './seededFault.ts';

export const faultsOfObjects: readonly SeededFault[] = [
  {
    name: 'object-not-told',
    breaks: 'pods are not told that a ConfigMap or a Secret has changed',
    file: 'actors/objects/objectStore.ts',
    find: 'if (hasChanged) this.#reporter.notifyPods(use.users.keys());',
    put: 'if (hasChanged && object === undefined) this.#reporter.notifyPods(use.users.keys());',
    story: numberOfStory('a ConfigMap changes all the time'),
  },
  {
    name: 'object-not-seen',
    breaks: 'what was not there when it was looked for first is never seen',
    file: 'actors/objects/cache/watchedObject.ts',
    find: '    this.#object = object ?? null;',
    put: '    this.#object = this.#object === null ? null : (object ?? null);',
    story: numberOfStory('a pod waits for a ConfigMap, and then for a key of it'),
  },
  {
    name: 'object-not-looked-at',
    breaks: 'what a volume shows is not looked at again where nobody watches it',
    file: 'actors/objects/cache/fetchedObject.ts',
    find: 'if (!isShown || now',
    put: 'if (isShown || now',
    story: numberOfStory('objects are looked at now and then'),
  },
  {
    name: 'bundle-not-told',
    breaks: 'pods are not told that a trust bundle has changed',
    file: 'actors/objects/clusterTrustBundles.ts',
    find: 'if (changedUses.length > 0)',
    put: 'if (changedUses.length > Infinity)',
    story: numberOfStory('trust anchors change'),
  },
  {
    name: 'keys-stay',
    breaks: 'a volume goes on to show the names of keys that are gone',
    file: 'volume/publishFiles.ts',
    find: 'entry.isSymbolicLink() && !expectedNames.has(entry.name)',
    put: 'entry.isSymbolicLink() && expectedNames.size > 99',
    story: numberOfStory('keys go from a ConfigMap, and others come'),
  },
  {
    name: 'shown-twice',
    breaks: 'the files of a volume are put in their place twice',
    file: 'volume/publishFiles.ts',
    find: '    await fileSystem.rename(path.join(directory, NEXT_DATA_LINK), path.join(directory, DATA_LINK));\n',
    put:
      '    await fileSystem.rename(path.join(directory, NEXT_DATA_LINK), path.join(directory, DATA_LINK));\n' +
      '    await fileSystem.symlink(publishedName, path.join(directory, NEXT_DATA_LINK));\n' +
      '    await fileSystem.rename(path.join(directory, NEXT_DATA_LINK), path.join(directory, DATA_LINK));\n',
    story: numberOfStory('keys go from a ConfigMap, and others come'),
  },
  {
    name: 'restart-for-object',
    breaks: 'a container ends because a ConfigMap of its pod has changed',
    file: 'machines/pod/chart.ts',
    find: "event: { type: 'container.objectsChanged' } },",
    put: "event: { type: 'container.stop', graceSeconds: 1 } },",
    story: numberOfStory('a ConfigMap changes all the time'),
  },
  {
    name: 'variable-of-another-key',
    breaks: 'a container gets the first key of a ConfigMap, whichever it asks for',
    file: 'kubernetes/environment/configValues.ts',
    find: 'const value = object?.data.get(key);',
    put: 'const value = object?.data.has(key) ? [...object.data.values()][0] : undefined;',
    story: numberOfStory('a pod waits for a ConfigMap, and then for a key of it'),
  },
  {
    name: 'token-not-renewed',
    breaks: 'tokens are not renewed',
    file: 'machines/volume/setup.ts',
    find: "mountedVolume?.kind === 'path' ? mountedVolume.renewAt : undefined;",
    put: "mountedVolume?.kind === 'path' && mountedVolume.own !== true ? mountedVolume.renewAt : undefined;",
    story: numberOfStory('tokens are renewed for an hour'),
  },
  {
    name: 'token-of-another-pod',
    breaks: 'pods of one service account share a token',
    file: 'actors/objects/tokens/serviceAccountTokens.ts',
    find: '    const { uid } = pod.metadata;\n',
    put: "    const uid = '';\n",
    story: numberOfStory('tokens are renewed for an hour'),
  },
  {
    name: 'token-for-the-gone',
    breaks: 'a token is asked for a pod that is gone from the API server',
    file: 'actors/objects/tokens/serviceAccountTokens.ts',
    find: 'if (this.#dependencies.isGone(pod.metadata)) {',
    put: 'if (this.#dependencies.isGone(pod.metadata) && now.monotonic < 0) {',
    story: numberOfStory('a pod is taken away by force, and runs on for longer than its token holds'),
  },
  {
    name: 'token-each-time',
    breaks: 'another token is asked for whenever a volume is looked at',
    file: 'actors/objects/tokens/serviceAccountTokens.ts',
    find: 'if (token.msUntilRenewal(now) > EARLY_TIMER_TOLERANCE_MS) return false;',
    put: 'if (token.msUntilRenewal(now) > EARLY_TIMER_TOLERANCE_MS * 3_600) return false;',
    story: numberOfStory('a pod shows everything that a cluster has for it, and all of it changes'),
  },
];
