/** Each file of the product has its test at the same path below test/, or is named here with the test that goes through it. */
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { productFiles, type Source, sources } from './support/tree.ts';

/** The files without a test of their own, in their folders, by the test that they are seen through. */
const THROUGH: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Recorded YAML.
  'test/pod/yaml/boundedYaml.test.ts': {
    'pod/yaml': 'decode documentRanges parser scanner written',
  },
  // A whole node.
  'test/actors/podLife.test.ts': {
    actors: 'createNode drained nodeAgent nodeAgentConfig nodeFeeds nodeServices overview',
    pod: 'nextTurn',
    'actors/services': 'containerStatus containers mounts resizing sandboxes',
    'actors/status': 'actorsOfPods podTrees since toldPod',
  },
  // A node of a cluster.
  'test/actors/cluster/apiPods.test.ts': { 'actors/cluster': 'caches describeNode' },
  'test/node/config/kubeconfig.test.ts': { 'node/config': 'execFields proxyField' },
  'test/node/credentials/renewal.test.ts': { 'node/credentials': 'nodeCertificates' },
  'test/actors/cluster/certificates/certificateFiles.test.ts': { 'actors/cluster/certificates': 'privateFiles' },
  'test/actors/cluster/certificates/certificates.test.ts': { 'actors/cluster/certificates': 'awaitSigned' },
  'test/actors/cluster/certificates/resumed.test.ts': { 'actors/cluster/certificates': 'askCertificate' },
  'test/machines/certificate/chart.test.ts': { 'machines/certificate': 'certificate' },
  'test/actors/cluster/watches.test.ts': { 'actors/cluster': 'nodeObjects watch' },
  'test/actors/objects/objectStore.test.ts': { 'actors/objects': 'clusterObjects heldObject objectNews' },
  'test/actors/cluster/clusterNode.test.ts': { kube: 'paths' },
  'test/kube/client.test.ts': { kube: 'rateLimit' },
  'test/kube/reflectorTroubles.test.ts': { kube: 'backOff watchEvent' },
  // A test API server, by what a real one answered.
  'test/apiserver/recorded/recorded.test.ts': {
    apiserver: 'aggregated answers api firstObjects negotiation plainPaths shapes',
    'apiserver/admission':
      'admission certificateRequests defaultTolerations kubeletLabels mirrorPods namespaceLifecycle nodeRestriction nodeTaint plugin priority runtimeClass serviceAccount storageInUse',
    'apiserver/authentication': 'tokens',
    'apiserver/authorization': 'attributes authorize nodeAuthorizer',
    'apiserver/decode': 'duplicates',
    'apiserver/handlers': 'binding call eviction handlers patch read remove reviews subresource token watch write',
    'apiserver/openapi': 'definitions documents protobuf',
    'apiserver/registry': 'deletion finalizing ids registry strategy',
    'apiserver/registry/strategies':
      'clusterKinds configMaps events namespaces nodes parts services signingRequests strategies volumes',
    'apiserver/registry/strategies/pods': 'ephemeralContainers ips mirrorPod pods resize updates warnings',
    'apiserver/selection': 'continueToken labelQuery selector',
    'apiserver/tables': 'column columns table',
  },
  'test/apiserver/apiServer.test.ts': { 'apiserver/serving': 'servedApi' },
  'test/apiserver/standIns/standIns.test.ts': { 'apiserver/standIns': 'namespaces nodeTaints scheduler' },
  'test/apiserver/decode/decode.test.ts': { 'apiserver/decode': 'decodeError' },
  'test/apiserver/patch/strategicPatch.test.ts': { 'apiserver/patch': 'patchError' },
  'test/simulation/invariants/asWanted.test.ts': { 'simulation/invariants': 'madeAsWanted' },
  'test/simulation/invariants/forwardOnly.test.ts': { 'simulation/invariants': 'toldStatus' },
  'test/simulation/invariants/startOrder.test.ts': { 'simulation/invariants': 'mountsAsked' },
  'test/simulation/invariants/toldOnce.test.ts': { 'simulation/invariants': 'toldCauses' },
  'test/simulation/invariants/atServer.test.ts': { 'simulation/invariants': 'quietTime tokenRequests' },
  // A simulated node of a cluster.
  'test/simulation/cluster/outage.test.ts': {
    'simulation/cluster': 'apiPod clusterUsers nodeEvents simulatedCluster watchStream',
  },
  'test/simulation/cluster/objects.test.ts': {
    'simulation/cluster': 'apiObject partTroubles tokenAsked trustBundles',
  },
  'test/simulation/invariants/objectsShown.test.ts': {
    'simulation/invariants': 'objectVersions podNeeds tokensShown undisturbed volumeTexts',
  },
  'test/simulation/cluster/ends.test.ts': { 'simulation/cluster': 'apiRefusal nodeTransport' },
  'test/simulation/cluster/traffic.test.ts': { apiserver: 'olderServer' },
  'test/simulation/cluster/chaos.test.ts': {
    'simulation/cluster': 'seededIds',
    'simulation/stories': 'clusterStory drawnObjects',
  },
  'test/simulation/hunt.test.ts': { 'simulation/stories': 'manyKinds' },
  // Who may use the node's server.
  'test/serving/access/access.test.ts': {
    'serving/access': 'accessReview authentication reviews tokenReview',
  },
  'test/serving/access/everyPath.test.ts': { 'serving/access': 'subresources' },
  // What a node counts.
  'test/serving/metrics/families.test.ts': {
    'serving/metrics': 'agentGauges buckets gateMetrics logGauge podFamilies processMetrics',
  },
  'test/serving/metrics/nodeMetrics.test.ts': { 'serving/metrics': 'nodeGauges probeMetrics runtimeMetrics' },
  'test/serving/metrics/podMetrics.test.ts': { 'serving/metrics': 'followedPods podStarts statusChanges' },
  'test/serving/metrics/callMetrics.test.ts': { 'serving/metrics': 'renewalErrors volumeMetrics' },
  'test/serving/metrics/routes.test.ts': { 'serving/metrics': 'healthMetrics' },
  // A whole node in simulation.
  'test/simulation/simulateNode.test.ts': {
    simulation:
      'deeds faults gatedRooms host latencies leftOnHost life nodeConfig onDisk schedule toldPods touches trace',
    'simulation/invariants': 'all askedStops invariant notOurs watch',
    'simulation/stories': 'drawnStory manifests play shortStories',
  },
  'test/simulation/stories/perform.test.ts': {
    simulation: 'manifestPlace servers spells troubles',
    'simulation/stories': 'drawnDeed drawnManifest',
  },
  'test/simulation/coverage/coverage.test.ts': {
    'simulation/coverage': 'check report transitions unreached',
    'simulation/stories': 'playPointed pointedStories',
    'simulation/stories/pointed':
      'adoptions coincidences crowds doubts files launches objects pods pointedStory resources restartsOfAll others waits',
  },
  'test/simulation/others.test.ts': { simulation: 'hostCgroups otherPods visits' },
  'test/simulation/stories/everyFault.test.ts': { simulation: 'failures' },
  'test/simulation/stories/keptFaults.test.ts': { 'simulation/stories': 'striking' },
  'test/simulation/stories/found.test.ts': { 'simulation/stories': 'shrink' },
  'test/simulation/invariants/steady.test.ts': { 'simulation/stories/pointed': 'longLives' },
  'test/simulation/invariants/untouched.test.ts': { 'simulation/invariants': 'ownReasons' },
  'test/simulation/misuse.test.ts': { simulation: 'checkOptions fates' },
  'test/simulation/validManifest.test.ts': { simulation: 'plainData' },
  'test/simulation/soak.test.ts': { simulation: 'finds untilAborted' },
  'test/actors/otherIds.test.ts': { 'actors/services': 'knownContainer', 'pod/lifecycle': 'otherId' },
  'test/simulation/endings.test.ts': { simulation: 'renamed' },
  'test/simulation/replayed.test.ts': { simulation: 'pastLives' },
  'test/index.test.ts': { 'actors/simulated': 'startSimulatedNode', 'host/cgroup': 'systemd' },
  'test/actors/simulated/network.test.ts': { 'actors/simulated': 'connection' },
  'test/actors/runtime/pleg.test.ts': { actors: 'alarm' },
  'test/host/logs/readLog.test.ts': {
    'host/logs': 'lineSplitter logBlocks logChanges logLine logText openLog tailStart unpackedTails',
  },
  'test/actors/events/eventRecorder.test.ts': { 'actors/events': 'eventSink' },
  'test/actors/garbage.test.ts': { 'actors/store': 'leftOnDisk', 'host/pods': 'takePodDirectory' },
  'test/actors/status/heldChanges.test.ts': { 'actors/store': 'factWriter' },
  'test/actors/store/ownership.test.ts': { 'actors/services': 'ownCgroup podSandboxes' },
  'test/actors/store/hangingDisk.test.ts': { 'actors/store': 'diskCalls folderWriter' },
  'test/actors/store/store.test.ts': {
    'actors/store': 'factChange storeBatches storeFiles unwrittenFacts',
    'host/files': 'setAside syncDirectory',
  },
  'test/actors/services/hooks.test.ts': { 'actors/services': 'httpExchange timeLimit' },
  'test/actors/services/probes.test.ts': {
    'actors/services': 'handlerTarget hostNetwork httpGet probeExec probeHttp probeTcp',
  },
  'test/actors/images/pullProofs.test.ts': { 'actors/images': 'pullRecords' },
  'test/actors/images/credentialPlugins.test.ts': { 'pod/images': 'credentialProvider' },
  'test/cli/format/jsonTemplate.test.ts': { 'cli/format': 'jsonPath pathMistake scanner' },
  'test/cli/format/objectFormat.test.ts': { 'cli/format': 'formats' },
  'test/inspect/reels.test.ts': { inspect: 'touched' },
  'test/cli/get.test.ts': { cli: 'selection' },
  // Manifests.
  'test/actors/sources/hostileManifests.test.ts': {
    'actors/sources': 'manifestDirectory manifestLimits manifestThread',
    'actors/sources/yaml': 'textFile',
  },
  'test/actors/sources/httpSource.test.ts': { 'actors/sources': 'problemsToTell' },
  'test/pod/objects/objectManifest.test.ts': { 'pod/api/schema': 'configObject' },
  'test/pod/api/validate.test.ts': {
    'pod/api': 'defaultVolumes problem',
    'pod/api/schema':
      'container env meta networkVolumes pod probe scalars scheduling security selector volume volumeClaim',
    'pod/api/validation': 'env handlers labelSelectors mounts projections resourceNames resources words',
    'pod/images': 'pullPolicy',
  },
  'test/pod/api/runtimeClass.test.ts': { 'pod/api/schema': 'runtimeClass' },
  // The charts: their parts are walked and told stories together.
  'test/machines/container/chart.test.ts': {
    'machines/container': 'context setup terminatedRun',
    'machines/container/states': 'adopting launching making pending removing running',
    'machines/probe': 'context view',
  },
  'test/machines/pod/commands.test.ts': { 'machines/pod': 'pace' },
  'test/machines/pod/chart.test.ts': {
    'machines/pod': 'context resizing setup startOrder termination',
    'machines/pod/states': 'active creatingSandbox preparing resetting sandboxing',
    'machines/shared': 'failure failureEvents lastCount latestViews views waitingReason',
  },
  'test/actors/cluster/mirrorPods.test.ts': { 'machines/mirror': 'known' },
  'test/machines/node/chart.test.ts': {
    'machines/node': 'context endings setup view',
  },
  'test/machines/image/chart.test.ts': { 'machines/image': 'awaited recordedEvents setup waitingReason' },
  'test/machines/volume/chart.test.ts': { 'machines/volume': 'setup' },
  'test/machines/admission/chart.test.ts': { 'machines/admission': 'context' },
  'test/machines/drawing/mermaid.test.ts': { 'machines/drawing': 'mermaidText' },
  // What pods are shown as.
  'test/pod/status/status.test.ts': {
    'pod/resources': 'effectiveResources',
    'pod/status': 'statusAtEnd',
  },
  'test/web/model/words.test.ts': {
    'web/model': 'answer bar conditions headline logNote marks next objectLines time tree tried',
  },
  'test/web/model/selection.test.ts': { 'web/model': 'go page place world' },
  'test/web/model/detail.test.ts': { 'web/model': 'keepAsking' },
  'test/pod/show/actorRows.test.ts': { 'pod/show': 'actorRowText category treeRows' },
  'test/pod/show/explain.test.ts': { 'pod/show': 'explainText logTail' },
  'test/pod/show/explainNode.test.ts': { 'pod/show': 'actorNode' },
  'test/pod/node/nodeObject.test.ts': {
    'pod/node': 'nodeConditions nodeTable nodeUse',
    'pod/show': 'explainNodeUse',
  },
  'test/pod/show/describe/pod.test.ts': { 'pod/show/describe': 'containers events labels tabbed time volumes' },
  'test/cli/table/render.test.ts': { 'cli/table': 'help layout liveRows', 'pod/show': 'shownName' },
  'test/actors/resize.test.ts': { 'pod/show': 'reason' },
  'test/pod/events/eventTable.test.ts': { 'pod/events': 'recordedEvent' },
  // What the node is told and decides by.
  'test/pod/admission/decide.test.ts': { 'pod/admission': 'node' },
  'test/actors/store/durableFacts.test.ts': { 'pod/resources': 'allocation' },
  'test/pod/lifecycle/sandboxDecision.test.ts': { 'pod/lifecycle': 'observed' },
  'test/node/config/nodeConfig.test.ts': {
    'node/config':
      'admissionFields configError fields fieldsActedOn flags nodeAdmission nodeResources readFile urlFields',
  },
  'test/node/config/kubeletConfiguration.test.ts': {
    'node/config': 'cipherSuites kubeletFields',
    'node/config/parts': 'eviction images logs network node resources runtime serving sources',
  },
  // The recording of a node.
  'test/recording/flightRecorder.test.ts': { recording: 'deflate ring', actors: 'asked' },
  'test/recording/play.test.ts': { recording: 'comparison lines readLine recordingError' },
  // The page.
  'test/inspect/server.test.ts': { inspect: 'inspected routes' },
  'test/inspect/past.test.ts': {
    inspect: 'actorPast history nodeBar pastEntry reel takenWays',
  },
  'test/inspect/liveView.test.ts': { inspect: 'liveNode protocol' },
  'test/inspect/stately.test.ts': { inspect: 'statelySockets' },
  'test/machines/drawing/stateValue.test.ts': { 'machines/drawing': 'stateTags' },
  // The runtime.
  'test/cri/streaming/frames.test.ts': { 'cri/streaming': 'frameReader' },
  'test/cri/streaming/headerCodec.test.ts': { 'cri/streaming': 'headerBlock headerDictionary' },
  'test/cri/streaming/spdyConnection.test.ts': { 'cri/streaming': 'failure spdyStream' },
  'test/cri/streaming/remoteCommand.test.ts': { 'cri/streaming': 'commandStatus streamingUrl' },
  'test/cri/containerConfig.test.ts': { cri: 'environment nodeDescription' },
  'test/cri/securityContext.test.ts': { cri: 'securityProfiles' },
  'test/cri/grpc.test.ts': { cri: 'failure method unary' },
  'test/e2e/managed.test.ts': {
    'cri/managed':
      'cgroups containerd images importImages launch layout leftTasks masquerade mounts process ready takeBack tar teardown',
  },
  'test/cri/simulated/operations.test.ts': {
    'cri/simulated':
      'addresses clock containers exec ids images inProcess names process records resizing running sandboxes statuses struck worldOf',
  },
  'test/cri/simulated/crictl.test.ts': { 'cri/simulated': 'info stats' },
  'test/cri/simulated/command.test.ts': { 'cri/simulated': 'shell shellScript shellTokens' },
  'test/serving/podResources/server.test.ts': { 'serving/podResources': 'messages' },
  'test/serving/debug/profiles.test.ts': { 'serving/debug': 'recordings' },
  'test/serving/streaming/routes.test.ts': {
    'cri/simulated': 'servedCommand servedPorts streamingServer',
    serving: 'sessions',
    'serving/streaming': 'found refusal relay streamOptions target webSockets',
    'cri/streaming': 'webSocketCommand',
  },
  // Both kubectls, through the test API server.
  'test/e2e/relay.test.ts': {
    'apiserver/serving': 'joined translateCommand tunnelPorts upgradeClient upgrades',
  },
  'test/apiserver/connect/connect.test.ts': { 'apiserver/serving': 'forwarding nodeClient' },
  'test/cri/simulated/server.test.ts': { 'cri/simulated': 'callError selfReport' },
  // What is used.
  'test/stats/collector.test.ts': { stats: 'criUsage runtimeLists runtimeStats' },
  'test/stats/provider.test.ts': { stats: 'cgroupStats hostFacts podFiles podStats summary' },
  'test/stats/volumeUsage.test.ts': { stats: 'countTrees' },
  // The host.
  'test/host/cgroup/podCgroups.test.ts': { 'host/cgroup': 'cgroupfs files inTurn podsTree' },
  'test/serving/metrics/cadvisor/cadvisor.test.ts': {
    'serving/metrics/cadvisor': 'deviceMetrics machineFamilies metric row rows specMetrics usageMetrics',
  },
  'test/serving/metrics/exposition.test.ts': { 'serving/metrics': 'answerMetrics' },
  'test/host/cgroup/usage/readUsage.test.ts': { 'host/cgroup/usage': 'devices fields pressure usageV1 usageV2' },
  'test/host/simulated/cgroups.test.ts': { 'host/simulated': 'gate' },
  'test/host/pods/logRotation.test.ts': { 'host/files': 'gzipFile', 'host/pods': 'logNames' },
  'test/host/files/removeTree.test.ts': { 'host/files': 'entries fileErrors' },
  'test/host/simulated/memoryFiles.test.ts': {
    'host/files': 'fileSystem',
    'host/simulated': 'faultyCalls fileErrors inodes journal memoryDisk memoryFile places',
  },
  'test/cli/wrongPlaces.test.ts': { 'host/files': 'expectDirectory' },
  'test/volume/subPaths.test.ts': { 'host/files': 'safeOpen', volume: 'bindSubPath mount plugins' },
  'test/volume/simulated/mounter.test.ts': {
    'host/simulated': 'memoryMounts',
    'volume/simulated': 'withinVolume',
  },
  'test/volume/program.test.ts': { host: 'ownScript', volume: 'hostMounter memory volumeTasks' },
  // Commands, run as processes or over a real socket.
  'test/cli/process.test.ts': {
    cli: 'asYaml describe getEvents leftPods readEvents readExplanation readNodes readPods record resource signals standardOutput',
    node: 'admission agentPort flightRecorder hostConfig hostIdentity prettyLog rootDirectory startNode',
  },
  'test/cli/logs.test.ts': { cli: 'askPod delete' },
  'test/cli/image.test.ts': { 'cri/images': 'compression importImages imageSpec' },
  'test/cri/images/imageArchive.test.ts': { 'cri/images': 'layerSize' },
  'test/cli/program.test.ts': {
    cli: 'clusterOptions getCommand imageCommand onOrOff podCommands servingOptions streamCommands topCommand',
  },
  'test/cli/exec.test.ts': { cli: 'commandTerminal streamIn' },
  'test/cli/getActors.test.ts': { cli: 'readActors' },
  'test/cli/top.test.ts': { cli: 'terminalScreen', 'cli/top': 'detail topView' },
  'test/cli/top/render.test.ts': { 'cli/top': 'help renderDetail' },
  'test/cli/liveTable.test.ts': { cli: 'lineView terminalView' },
  'test/cli/hostileText.test.ts': { 'cli/table': 'printer' },
  'test/docs/charts.test.ts': { cli: 'charts' },
  'test/machines/drawing/regions.test.ts': { 'machines/container': 'regions', 'machines/pod': 'regions' },
  'test/cli/version.test.ts': { node: 'version', 'pod/api': 'version' },
  // The story of the page.
  'test/web/model/chart/text.test.ts': { 'web/model/chart': 'textWidth' },
  'test/web/model/railView.test.ts': { 'web/model': 'railMoves' },
  'test/web/model/moments.test.ts': { 'web/model': 'startStory storyKeys' },
  'test/web/model/storyLanes.test.ts': { 'web/model': 'storyBars' },
  'test/web/model/storyRows.test.ts': { 'web/model': 'storyBursts storyWho storyWords' },
  'test/web/model/telling.test.ts': { 'web/model': 'storyView' },
  'test/actors/cluster/certificates/signingRequest.test.ts': { 'actors/cluster/certificates': 'pem' },
  // The node's own API.
  'test/serving/listener/listener.test.ts': { 'serving/listener': 'dispatch tlsFiles' },
  'test/serving/listener/servingCertificate.test.ts': { 'serving/listener': 'selfSigned' },
  'test/node/serving.test.ts': { node: 'apiUse nodeStats' },
  // The logs that the node's server answers with.
  'test/serving/logs/containerLogs.test.ts': {
    serving: 'answers',
    'serving/logs': 'instant logFile logQuery openInside',
  },
  'test/serving/logs/logScan.test.ts': { 'serving/logs': 'criHeader dockerLine textOut' },
  'test/serving/logs/systemLogs.test.ts': { 'serving/logs': 'fileAnswer fileServer nodeLogQuery nodeLogs' },
  'test/server/socket.test.ts': { server: 'manifestProblems routes socketPath status watch', 'pod/show': 'podList' },
};

/** Those that are a program of their own, and the test that runs it. */
const RUN_BY: Readonly<Record<string, string>> = {
  'actors/sources/manifestWorker.ts': 'test/actors/sources/manifestReader.test.ts',
  'cli/bin.mjs': 'test/cli/launcher.test.ts',
  'cli/main.ts': 'test/cli/process.test.ts',
  'stats/usageChild.ts': 'test/stats/volumeUsage.test.ts',
};

const files = new Set(sources.map(({ file }) => file));
const testOf = (file: string): string => `test/${file.replace(/\.[a-z]+$/, '.test.ts')}`;
const hasValues = ({ text }: Source): boolean => /^export (default|async|function|const|class|let|\{)/m.test(text);
const isAlone = (each: Source): boolean =>
  hasValues(each) && !files.has(testOf(each.file)) && !Object.hasOwn(RUN_BY, each.file);
const alone = productFiles.filter(isAlone).map(({ file }) => file);

const named = Object.entries(THROUGH).map(([by, folders]) => {
  const found = Object.entries(folders).flatMap(([folder, names]) =>
    names.split(' ').map((name) => join(folder, `${name}.ts`)),
  );
  return [by, found] as const;
});

const imports = new Map(
  sources.map(({ file, text }) => {
    const found = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)];
    const run = Object.keys(RUN_BY).filter((each) => RUN_BY[each] === file);
    return [file, [...run, ...found.map(([, path = '']) => join(dirname(file), path))]];
  }),
);

/** All that a file leads to by its imports. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const next of imports.get(file) ?? []) reached(next, seen);
  return seen;
}

test('each file has its test, or is named once', () => {
  expect(alone.toSorted()).toEqual(named.flatMap(([, found]) => found).toSorted());
});

test('each program is run by a test that is there', () => {
  expect([...Object.keys(RUN_BY), ...Object.values(RUN_BY)].filter((file) => !files.has(file))).toEqual([]);
});

test.each(named)('%s leads to what it is named for', (by, found) => {
  const led = reached(by);
  expect(found.filter((file) => !led.has(file))).toEqual([]);
});
