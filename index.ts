/** Entry point of the library, which exports the node agent, its machines and its dependencies. */

// Import this module first, so that an outdated Node.js version fails with one clear sentence instead of an error deep
// in a module.
import './host/nodeVersion.ts';

/** Recorded input of the actors, and the implementations of their ports and feeds. */
export type { FactFeed, InputRecorder, PortService, PortServices, RecordedInput } from './actors/boundary.ts';
/** Records the events of the machines as core/v1 Events. */
export { createEventRecorder, type EventChange, type EventRecorder } from './actors/events/eventRecorder.ts';
export type { EventSink } from './actors/events/eventSink.ts';
/** Creates a node, which runs the pods of its sources and reports their statuses. */
export { createNode } from './actors/node/createNode.ts';
export type { Keyframe, NodeAgent } from './actors/node/nodeAgent.ts';
export type { NodeAgentConfig } from './actors/node/nodeAgentConfig.ts';
export type { NodeParts } from './actors/node/nodeParts.ts';
export type { NodeOverview } from './actors/node/overview.ts';
/** Replays a recording in a new agent. */
export { createReplay, type Replay } from './actors/replay/replay.ts';
/** The network used by probes, hooks and the manifest URL. */
export type { Network } from './actors/services/http/network.ts';
/** A clock for tests on the simulated runtime. Time only passes when the clock is advanced. */
export { SimulatedClock } from './actors/simulated/simulatedClock.ts';
/** Starts a whole node on the simulated runtime. */
export {
  type SimulatedNode,
  type SimulatedNodeOptions,
  startSimulatedNode,
} from './actors/simulated/startSimulatedNode.ts';
export type { PodChange } from './actors/status/statusBoard.ts';
/** Sinks to which the node reports pod statuses. */
export type { StatusPutOptions, StatusReport, StatusSink } from './actors/status/statusReports.ts';
/** Facts that survive a restart of the agent. */
export { type DurableFacts, type NodeStore, openNodeStore } from './actors/store/durableFacts.ts';
export { type Failure, NodeFailure } from './base/failure.ts';
/** The clock interface, and the system clock. */
export { type Clock, systemClock } from './base/time/clock.ts';
/** A runtime over gRPC or a simulated runtime, which runs in this process or as a CRI server on a unix socket. */
export type { CallOptions, Cri, RuntimeEvent } from './cri/client/calls.ts';
export { type CriEndpoints, connectCri } from './cri/client/connectCri.ts';
export type { NodeDescription } from './cri/nodeDescription.ts';
export { inProcessCri } from './cri/simulated/inProcessCri.ts';
export type { SimulatedRuntimeOptions } from './cri/simulated/options.ts';
export { createSimulatedRuntime, type SimulatedRuntime } from './cri/simulated/runtime.ts';
export { serveSimulatedRuntime } from './cri/simulated/serveSimulatedRuntime.ts';
export { serveSimulatedStreams } from './cri/simulated/streams/serveSimulatedStreams.ts';
/** The cgroups above those of containers, which a node with real containers requires. */
export type { Cgroups } from './host/cgroup/cgroups.ts';
export { type Hierarchy, readHierarchies } from './host/cgroup/hierarchies.ts';
export { PodCgroups, type PodCgroupsParts } from './host/cgroup/podCgroups.ts';
export { callSystemd } from './host/cgroup/systemd.ts';
export type { FileSystem } from './host/files/fileSystem.ts';
export { type Pod, podSchema } from './kubernetes/api/schema/pod.ts';
export type { PodStatus } from './kubernetes/api/schema/status.ts';
export type { CoreEvent } from './kubernetes/events/event.ts';
export { admissionMachine } from './machines/admission/chart.ts';
export { certificateMachine } from './machines/certificate/chart.ts';
export { cgroupsMachine } from './machines/cgroups/chart.ts';
export { claimsMachine } from './machines/claims/chart.ts';
export { driverMachine } from './machines/claims/driver.ts';
export { slicesMachine } from './machines/claims/slices.ts';
export { containerMachine } from './machines/container/chart.ts';
export { cpusMachine } from './machines/cpus/chart.ts';
export { deviceAllocationMachine } from './machines/devices/allocation.ts';
export { devicesMachine } from './machines/devices/chart.ts';
export { devicePluginMachine } from './machines/devices/plugin.ts';
export { type Chart, createCharts } from './machines/drawing/charts.ts';
export { evictionMachine } from './machines/eviction/chart.ts';
export { imageMachine } from './machines/image/chart.ts';
export { imageGarbageMachine } from './machines/imageGarbage/chart.ts';
export { leaseMachine } from './machines/lease/chart.ts';
export { limiterMachine } from './machines/limiter/chart.ts';
export { memoryManagerMachine } from './machines/memoryManager/chart.ts';
export { type MirrorEvent, mirrorMachine } from './machines/mirror/chart.ts';
export { nodeAgentMachine } from './machines/node/chart.ts';
export type { NodeInput } from './machines/node/context.ts';
export { garbageMachine } from './machines/node/upkeep/garbage.ts';
export { logRotationMachine } from './machines/node/upkeep/logRotation.ts';
export { nodeStatusMachine } from './machines/nodeStatus/chart.ts';
/**
 * The state machines that the `charts` command draws. Each port of a machine rejects until its implementation is
 * provided.
 */
export { activeDeadlineMachine } from './machines/pod/activeDeadline.ts';
export { podMachine } from './machines/pod/chart.ts';
export { paceMachine } from './machines/pod/containers/pace.ts';
export { probeMachine } from './machines/probe/chart.ts';
export { registrationMachine } from './machines/registration/chart.ts';
/** Types of the events that the machines receive. */
export type { CertificateEvent, LeaseEvent, RegistrationEvent } from './machines/shared/events/clusterFacts.ts';
export type { DeviceAllocationEvent, DevicePluginEvent, DevicesEvent } from './machines/shared/events/deviceEvents.ts';
export type {
  AdmissionEvent,
  ContainerEvent,
  ImageEvent,
  NodeEvent,
  NodeFact,
  NodeStatusEvent,
  PodEvent,
  RuntimeHealth,
  SourceProblem,
  StatusSinkEvent,
  VolumeEvent,
} from './machines/shared/events/events.ts';
export type { EvictionEvent } from './machines/shared/events/evictionEvents.ts';
export type { ShutdownEvent } from './machines/shared/events/shutdownEvents.ts';
export type { LimiterEvent, TimerEvent } from './machines/shared/events/slots.ts';
export type {
  ClaimsEvent,
  CpusEvent,
  DriverEvent,
  GarbageEvent,
  ImageGarbageEvent,
  LogsEvent,
  MemoryManagerEvent,
} from './machines/shared/events/upkeepEvents.ts';
export type { PortName, PortTypes } from './machines/shared/ports.ts';
export { shutdownMachine } from './machines/shutdown/chart.ts';
export { statusSinkMachine } from './machines/statusSink/chart.ts';
export { volumeMachine } from './machines/volume/chart.ts';
export type { ActorNode } from './show/actors/actorNode.ts';
export type { PodWithTree as SeenPod } from './show/actors/podActors.ts';
export { explainNode, type NodeExplanation } from './show/explain/explainNode.ts';
export { formatExplanation, formatNodeExplanation } from './show/explain/formatExplanation.ts';
export { type Explanation, explainPod } from './show/explain.ts';
/** Mounts volumes and accesses their contents. */
export type { Mounter } from './volume/mount/mounter.ts';
