import type { Observations } from './scenario.ts';

/** Returns the observations of the scenario on every runtime, in the words of containerd. */
export function expectedOf(image: string): Observations {
  return {
    images: {
      version: 'v1',
      presentHasTag: true,
      listed: true,
      absent: null,
      removeAbsent: 'ok',
    },
    names: {
      twice:
        'NameReserved: RunPodSandbox: failed to reserve sandbox name "names_scenario_<uid>_0": name "names_scenario_<uid>_0" is reserved for "<sandbox names>"',
      containerTwice:
        'NameReserved: CreateContainer: failed to reserve container name "web_names_scenario_<uid>_0": name "web_names_scenario_<uid>_0" is reserved for "<container names/web/0>"',
      nextAttempt: 'ok',
      withoutImage: 'NotFound: CreateContainer: failed to resolve image "statelet.local/none:1": not found',
      afterRemoval: 'ok',
    },
    lives: {
      sandbox: [
        'SANDBOX_READY with an address',
        {
          id: '<sandbox lives>',
          metadata: {
            name: 'lives',
            uid: '<uid>',
            namespace: 'scenario',
            attempt: 0,
          },
          created: true,
          labels: {
            scenario: '<uid>',
            pod: 'lives',
          },
          annotations: {
            note: 'from a scenario',
          },
          network: 'POD',
        },
      ],
      details: [
        {
          id: '<container lives/sleeper/0>',
          metadata: {
            name: 'sleeper',
            attempt: 0,
          },
          image,
          labels: {
            scenario: '<uid>',
            pod: 'lives',
            container: 'sleeper',
          },
          annotations: {
            restartCount: '2',
          },
        },
        [
          {
            podSandboxId: '<sandbox lives>',
            metadata: {
              name: 'sleeper',
              attempt: 0,
            },
            image,
            labels: {
              scenario: '<uid>',
              pod: 'lives',
              container: 'sleeper',
            },
            annotations: {
              restartCount: '2',
            },
          },
        ],
      ],
      created: 'CONTAINER_CREATED 0, created',
      execInCreated: 'RuntimeError: ExecSync: failed to exec in container: container is in CONTAINER_CREATED state',
      stopCreated: 'ok',
      running: 'CONTAINER_RUNNING 0, created started',
      startTwice:
        'RuntimeError: StartContainer: failed to set starting state for container "<container lives/sleeper/0>": container is in CONTAINER_RUNNING state',
      exec: [0, 7],
      execTooLong:
        'DeadlineExceeded: ExecSync: failed to exec in container: timeout 1s exceeded: context deadline exceeded',
      stopped: 'CONTAINER_EXITED 0 Completed, created started finished',
      stopStopped: 'ok',
      startStopped:
        'RuntimeError: StartContainer: failed to set starting state for container "<container lives/sleeper/0>": container is in CONTAINER_EXITED state',
      execInStopped: 'RuntimeError: ExecSync: failed to exec in container: container is in CONTAINER_EXITED state',
      succeeded: 'CONTAINER_EXITED 0 Completed, created started finished',
      failed: 'CONTAINER_EXITED 3 Error, created started finished',
      stubborn: 'CONTAINER_EXITED 137 Error, created started finished',
      killed: 'CONTAINER_EXITED 137 Error, created started finished',
      removeRunning: 'ok',
    },
    filters: {
      bySandbox: ['<container one/web/0> CONTAINER_CREATED'],
      byState: ['<container one/web/0> CONTAINER_CREATED'],
      byStateAndSandbox: [],
      byLabel: ['<container two/web/0> CONTAINER_EXITED'],
      byId: ['<container one/web/0> CONTAINER_CREATED'],
      byUnknownId: [],
      sandboxesById: ['<sandbox two> SANDBOX_NOTREADY'],
      sandboxesReady: ['<sandbox one> SANDBOX_READY'],
      sandboxesNotReady: ['<sandbox two> SANDBOX_NOTREADY'],
      sandboxesByLabel: ['<sandbox one> SANDBOX_READY'],
    },
    stopping: {
      sandbox: 'SANDBOX_NOTREADY without an address',
      running: 'CONTAINER_EXITED 137 Error, created started finished',
      waiting: 'CONTAINER_CREATED 0, created',
      again: 'ok',
      create:
        'NotFound: CreateContainer: failed to get sandbox container task: no running task found: task <sandbox stopping> not found: not found',
      start: 'RuntimeError: StartContainer: sandbox container "<sandbox stopping>" is not running',
      afterStart:
        'CONTAINER_EXITED 128 StartError sandbox container "<sandbox stopping>" is not running, created finished',
      removed: 'NotFound: PodSandboxStatus: an error occurred when try to find sandbox: not found',
      containers: [],
      container:
        'NotFound: ContainerStatus: an error occurred when try to find container "<container stopping/running/0>": not found',
      removeAgain: 'ok',
      stopRemoved: 'gone',
      onHost: [
        'SANDBOX_READY without an address',
        {
          id: '<sandbox on-host>',
          metadata: {
            name: 'on-host',
            uid: '<uid>',
            namespace: 'scenario',
            attempt: 0,
          },
          created: true,
          labels: {
            scenario: '<uid>',
            pod: 'on-host',
          },
          annotations: {
            note: 'from a scenario',
          },
          network: 'NODE',
        },
      ],
    },
    absent: {
      sandboxStatus: 'NotFound: PodSandboxStatus: an error occurred when try to find sandbox: not found',
      stopSandbox: 'gone',
      removeSandbox: 'ok',
      create: 'NotFound: CreateContainer: failed to find sandbox id "<nobody>": not found',
      containerStatus: 'NotFound: ContainerStatus: an error occurred when try to find container "<nobody>": not found',
      start: 'NotFound: StartContainer: an error occurred when try to find container "<nobody>": not found',
      stop: 'gone',
      remove: 'ok',
      exec: 'NotFound: ExecSync: failed to exec in container: failed to find container "<nobody>" in store: not found',
    },
  };
}
