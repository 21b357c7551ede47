import { homedir } from 'node:os';
import type { EventRecorder } from '../../actors/events/eventRecorder.ts';
import type { NodeAgent } from '../../actors/node/nodeAgent.ts';
import { readLatestLog, readLogTails } from '../../actors/services/containers/logTails.ts';
import { withoutSecrets } from '../../actors/sources/http/urlSecrets.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { createLayout } from '../../host/pods/layout.ts';
import { sourceOf } from '../../kubernetes/api/pods/staticPod.ts';
import type { NodeObject } from '../../kubernetes/node/nodeObject.ts';
import type { RuntimeView } from '../../show/actors/actorNode.ts';
import type { PodWithTree } from '../../show/actors/podActors.ts';
import { withLostRoot } from '../../show/explain/explainNode.ts';
import type { PodPart } from '../../show/explain/explainPart.ts';
import { type ServedView, withServing } from '../../show/explain/explainServing.ts';
import type { LogTail, LogTails } from '../../show/logTail.ts';
import type { AgentPort, NodeSummary, PodPaths } from '../../socket/agent.ts';
import type { NodeConfig } from '../config/nodeConfig.ts';
import type { RootWatch } from '../host/rootWatch.ts';

interface AgentPortDependencies {
  readonly cri: Pick<Cri, 'exec' | 'attach' | 'listContainers'>;
  readonly agent: NodeAgent;
  readonly recorder: EventRecorder;
  readonly config: NodeConfig;
  readonly isSimulated: boolean;
  readonly root: RootWatch;
  readonly nodeObject: () => NodeObject;
  readonly recording: AgentPort['recording'];
  /** Describes how the node's own API is used. Undefined if the node has no API. */
  readonly apiView?: () => ServedView | undefined;
  readonly usage: AgentPort['usage'];
  readonly evictionFigures: AgentPort['evictionFigures'];
}

/** Creates the interface through which the socket, the printed tables and `explain` access the agent. */
export function createAgentPort(dependencies: AgentPortDependencies): AgentPort {
  const { agent, recorder, root, nodeObject, recording, apiView, usage, evictionFigures } = dependencies;
  const explainNode = () => withLostRoot(withServing(agent.explainNode(), apiView?.()), root.findLostRoot());
  return {
    pods: agent.pods,
    trees: agent.trees,
    subscribe: agent.subscribe,
    confirmPods: async (signal) => (await agent.relist(signal)) && agent.unpublishedUids().length === 0,
    events: recorder.events,
    subscribeEvents: recorder.subscribe,
    explain: agent.explainUid,
    logTails: (uid) => fetchLogTails(dependencies, uid),
    explainPart: async (uid, part) => {
      const [logs, latest] = await Promise.all([
        fetchLogTails(dependencies, uid),
        fetchLatestLog(dependencies, uid, part),
      ]);
      return agent.explainPart(uid, part, logs, latest);
    },
    podPaths: (uid) => podPaths(dependencies, uid),
    nodeObject,
    recording,
    usage,
    imageUses: agent.imageUses,
    evictionFigures,
    explainNode,
    actors: () => {
      const { at, node } = explainNode();
      return { at, node, pods: agent.podsWithTrees(), limiters: Object.values(agent.overview().limiters) };
    },
    node: () => nodeSummary(dependencies),
    // Imported lazily, because few agents ever serve a stream.
    stream: async (request, signal) =>
      (await import('../serve/openStreamEndpoint.ts')).openStreamEndpoint(dependencies, request, signal),
  };
}

const findPod = (agent: NodeAgent, uid: string) => agent.pods().find(({ metadata }) => metadata.uid === uid);

const podDirectories = ({ rootDirectory: rootDir, podLogsDirectory: podLogsDir }: NodeConfig) => ({
  rootDir,
  podLogsDir,
});

function podPaths({ agent, config }: AgentPortDependencies, uid: string): PodPaths | undefined {
  const pod = findPod(agent, uid);
  if (pod === undefined) return undefined;
  const url = sourceOf(pod) === 'http' && config.manifestUrl ? withoutSecrets(config.manifestUrl.url) : undefined;
  const manifest = agent.manifestFile(uid) ?? url;
  return {
    podLogs: config.podLogsDirectory,
    logs: createLayout(podDirectories(config)).podLogDir(pod.metadata),
    ...(manifest === undefined ? {} : { manifest }),
  };
}

function podWithTree({ agent }: AgentPortDependencies, uid: string): PodWithTree | undefined {
  const pod = findPod(agent, uid);
  const tree = agent.trees().get(uid);
  return pod && tree && { pod, tree };
}

async function fetchLogTails(dependencies: AgentPortDependencies, uid: string): Promise<LogTails> {
  const pod = podWithTree(dependencies, uid);
  return pod ? readLogTails(pod, podDirectories(dependencies.config)) : new Map();
}

async function fetchLatestLog(
  dependencies: AgentPortDependencies,
  uid: string,
  { kind, name }: PodPart,
): Promise<LogTail | undefined> {
  const pod = kind === 'container' ? podWithTree(dependencies, uid) : undefined;
  return pod && readLatestLog(pod, name, podDirectories(dependencies.config));
}

function nodeSummary({ agent, config, isSimulated, root }: AgentPortDependencies): NodeSummary {
  const lostRoot = root.findLostRoot();
  const { state, tags, waitingFor, until, runtime, foreign, problems, warnings, limiters } = agent.overview();
  return {
    name: config.nodeName,
    state,
    tags,
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(until === undefined ? {} : { until }),
    runtime: runtimeSummary(runtime),
    endpoints: { runtime: config.containerRuntimeEndpoint, images: config.imageServiceEndpoint },
    registryCredentials: {
      workingDirectory: process.cwd(),
      homeDirectory: homedir(),
      ...(config.credentialProviders ? { providers: config.credentialProviders } : {}),
    },
    ...(lostRoot === undefined ? {} : { trouble: lostRoot.message }),
    simulated: isSimulated,
    foreign,
    problems,
    warnings,
    limiters,
  };
}

const runtimeSummary = ({ ready, networkNotReady: _, ...runtime }: RuntimeView): NodeSummary['runtime'] => ({
  ...runtime,
  state: ready ? 'ready' : 'not ready',
});
