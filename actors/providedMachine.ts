import { cgroupsMachine } from '../machines/cgroups/chart.ts';
import { containerMachine } from '../machines/container/chart.ts';
import { imageMachine } from '../machines/image/chart.ts';
import { limiterMachine } from '../machines/limiter/chart.ts';
import { nodeAgentMachine } from '../machines/node/chart.ts';
import { garbageMachine } from '../machines/node/garbage.ts';
import { logRotationMachine } from '../machines/node/logRotation.ts';
import { activeDeadlineMachine } from '../machines/pod/activeDeadline.ts';
import { podMachine } from '../machines/pod/chart.ts';
import { probeMachine } from '../machines/probe/chart.ts';
import { statusSinkMachine } from '../machines/statusSink/chart.ts';
import { volumeMachine } from '../machines/volume/chart.ts';
import type { Boundary } from './boundary.ts';

/** The machines with every port filled, everything that enters passing the boundary. */
export function providedMachine(boundary: Boundary): typeof nodeAgentMachine {
  const { port, feed, timer } = boundary;
  const garbage = garbageMachine.provide({
    actors: { removeGarbage: port('removeGarbage'), surveyDisk: port('surveyDisk'), timer },
  });
  return nodeAgentMachine.provide({
    actors: {
      pod: providedPod(boundary),
      limiter: limiterMachine.provide({ actors: { timer } }),
      cgroups: cgroupsMachine.provide({ actors: { setUpCgroups: port('setUpCgroups'), timer } }),
      garbage,
      logRotation: logRotationMachine.provide({ actors: { rotateLogs: port('rotateLogs'), timer } }),
      statusSink: statusSinkMachine.provide({ actors: { putStatus: port('putStatus'), timer } }),
      runtimeHealth: feed('runtimeHealth'),
      pleg: feed('pleg'),
      sources: feed('sources'),
      nodeFacts: feed('nodeFacts'),
      ticker: feed('ticker'),
      timer,
    },
  });
}

function providedPod(boundary: Boundary): typeof podMachine {
  const { port, timer } = boundary;
  return podMachine.provide({
    actors: {
      activeDeadline: activeDeadlineMachine.provide({ actors: { timer } }),
      container: providedContainer(boundary),
      volume: providedVolume(boundary),
      preparePod: port('preparePod'),
      prepareCgroup: port('prepareCgroup'),
      fitPod: port('fitPod'),
      removeCgroup: port('removeCgroup'),
      removePodData: port('removePodData'),
      runSandbox: port('runSandbox'),
      inspectSandbox: port('inspectSandbox'),
      stopSandboxes: port('stopSandboxes'),
      removeSandboxes: port('removeSandboxes'),
      timer,
    },
  });
}

function providedContainer({ port, timer }: Boundary): typeof containerMachine {
  const probe = probeMachine.provide({
    actors: { runProbe: port('runProbe'), pickMoment: port('pickMoment'), timer },
  });
  return containerMachine.provide({
    actors: {
      probe,
      image: providedImage({ port, timer }),
      countRestarts: port('countRestarts'),
      createContainer: port('createContainer'),
      startContainer: port('startContainer'),
      stopContainer: port('stopContainer'),
      inspectContainer: port('inspectContainer'),
      resizeContainer: port('resizeContainer'),
      removeContainers: port('removeContainers'),
      runHook: port('runHook'),
      timer,
    },
  });
}

const providedImage = ({ port, timer }: Pick<Boundary, 'port' | 'timer'>): typeof imageMachine =>
  imageMachine.provide({ actors: { findImage: port('findImage'), pullImage: port('pullImage'), timer } });

function providedVolume({ port, timer }: Boundary): typeof volumeMachine {
  return volumeMachine.provide({
    actors: {
      mountVolume: port('mountVolume'),
      unmountVolume: port('unmountVolume'),
      image: providedImage({ port, timer }),
      timer,
    },
  });
}
