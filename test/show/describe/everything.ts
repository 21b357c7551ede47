/** The pod for the tests of `describe` at the time `NOW`. */
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { NOW } from '../../kubernetes/views.ts';

const at = (secondsAgo: number): string => `${new Date(NOW - secondsAgo * 1_000).toISOString().slice(0, 19)}Z`;

/** A pod with every field that `describe` shows. */
export const everything: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-host',
    namespace: 'default',
    uid: 'u1',
    labels: { app: 'web', tier: 'a-long-label-value' },
    annotations: {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': 'abc',
      'x/long': 'y'.repeat(200),
      'x/lines': 'one\ntwo\n',
    },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'host', uid: 'h', controller: true }],
  },
  spec: {
    priority: 2000001000,
    priorityClassName: 'system-node-critical',
    nodeName: 'host',
    serviceAccountName: 'default',
    runtimeClassName: 'runc',
    securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
    initContainers: [
      { name: 'init', image: 'busybox:1', command: ['sh', '-c', 'echo 1\necho 2'] },
      {
        name: 'mesh',
        image: 'busybox:1',
        restartPolicy: 'Always',
        args: ['a', 'b'],
        volumeMounts: [{ name: 'z', mountPath: '/z' }],
      },
    ],
    containers: [
      {
        name: 'main',
        image: 'app:1',
        ports: [
          { containerPort: 80, hostPort: 8080, protocol: 'TCP' },
          { containerPort: 53, protocol: 'UDP' },
        ],
        resources: { limits: { memory: '128Mi', cpu: '500m' }, requests: { cpu: '100m', memory: '64Mi' } },
        livenessProbe: {
          httpGet: { path: '/healthz', port: 80, scheme: 'HTTP' },
          initialDelaySeconds: 3,
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        readinessProbe: {
          tcpSocket: { port: 80 },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        startupProbe: {
          exec: { command: ['cat', '/x'] },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        envFrom: [{ configMapRef: { name: 'cm' } }, { secretRef: { name: 'sec', optional: true }, prefix: 'P_' }],
        env: [
          { name: 'A', value: '1' },
          { name: 'MULTI', value: 'x\ny' },
          { name: 'NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
          { name: 'IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
          { name: 'S', valueFrom: { secretKeyRef: { name: 'sec', key: 'k' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'cm', key: 'k', optional: true } } },
        ],
        securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } },
        volumeMounts: [
          { name: 'z', mountPath: '/z', readOnly: true },
          { name: 'data', mountPath: '/data', subPath: 'sub' },
        ],
      },
      {
        name: 'grpc',
        image: 'g:1',
        livenessProbe: {
          grpc: { port: 9000, service: 'svc' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        ports: [{ containerPort: 9, protocol: 'TCP' }],
      },
    ],
    ephemeralContainers: [{ name: 'dbg', image: 'busybox:1', stdin: true }],
    readinessGates: [{ conditionType: 'x.io/gate' }],
    volumes: [
      { name: 'z', hostPath: { path: '/tmp', type: 'Directory' } },
      { name: 'h2', hostPath: { path: '/x', type: '' } },
      { name: 'data', emptyDir: {} },
      { name: 'mem', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      { name: 'sec', secret: { secretName: 's', optional: true, defaultMode: 420 } },
      { name: 'cm', configMap: { name: 'c', defaultMode: 420 } },
      {
        name: 'down',
        downwardAPI: {
          items: [
            { path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } },
            { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } },
          ],
          defaultMode: 420,
        },
      },
      {
        name: 'proj',
        projected: {
          sources: [
            { secret: { name: 's' } },
            { configMap: { name: 'c', optional: true } },
            { downwardAPI: { items: [] } },
            { serviceAccountToken: { path: 't', expirationSeconds: 3607 } },
          ],
        },
      },
      { name: 'pvc', persistentVolumeClaim: { claimName: 'claim' } },
      { name: 'nfs', nfs: { server: 's', path: '/p' } },
      { name: 'img', image: { reference: 'r:1', pullPolicy: 'Always' } },
    ],
    nodeSelector: { a: 'b', c: 'd' },
    tolerations: [
      { operator: 'Exists', effect: 'NoExecute' },
      { key: 'k', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { operator: 'Exists' },
    ],
  },
  status: {
    phase: 'Running',
    hostIP: '192.0.2.1',
    hostIPs: [{ ip: '192.0.2.1' }],
    podIP: '10.0.0.2',
    podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::2' }],
    startTime: at(300),
    qosClass: 'Burstable',
    reason: 'R',
    message: 'M m',
    conditions: [
      { type: 'PodReadyToStartContainers', status: 'True' },
      { type: 'Ready', status: 'False' },
    ],
    initContainerStatuses: [
      {
        name: 'init',
        ready: true,
        restartCount: 0,
        image: 'busybox:1',
        imageID: 'sha256:1',
        containerID: 'containerd://i',
        state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: at(200), finishedAt: at(190) } },
      },
      {
        name: 'mesh',
        ready: true,
        restartCount: 0,
        image: 'busybox:1',
        imageID: 'sha256:1',
        containerID: 'containerd://m',
        state: { running: { startedAt: at(180) } },
      },
    ],
    containerStatuses: [
      {
        name: 'main',
        ready: false,
        restartCount: 3,
        image: 'app:1',
        imageID: 'sha256:2',
        containerID: 'containerd://x',
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
        lastState: {
          terminated: {
            exitCode: 137,
            signal: 9,
            reason: 'Error',
            message: 'bad',
            startedAt: at(100),
            finishedAt: at(50),
          },
        },
      },
    ],
  },
};
