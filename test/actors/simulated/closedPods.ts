/** Pods that use everything for which a node accesses the host or the network. */

/** Returns a pod with one container that runs until it is stopped. */
export const small = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'busybox' }] },
});

/** Returns a pod with its own user namespace. */
export const apart = (name: string) => ({ ...small(name), spec: { ...small(name).spec, hostUsers: false } });

/** Returns a pod whose container fails again and again. */
export const crashing = (name: string) => ({
  ...small(name),
  spec: {
    containers: [
      { name: 'main', image: 'busybox', command: ['false'], terminationMessagePolicy: 'FallbackToLogsOnError' },
    ],
  },
});

/** Returns a pod with every kind of probe, hook and volume, which is too large to be read on the event loop. */
export const everything = (cpu = '200m') => ({
  ...small('everything'),
  metadata: { name: 'everything', annotations: { long: 'x'.repeat(10_000) } },
  spec: {
    securityContext: { fsGroup: 2000 },
    terminationGracePeriodSeconds: 5,
    volumes: [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'labels', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'host', hostPath: { path: '/data', type: 'Directory' } },
      { name: 'made', hostPath: { path: '/made', type: 'DirectoryOrCreate' } },
    ],
    initContainers: [{ name: 'first', image: 'busybox', command: ['true'] }],
    containers: [
      {
        name: 'http',
        image: 'busybox',
        resources: { requests: { cpu, memory: '64Mi' }, limits: { cpu: '1', memory: '64Mi' } },
        volumeMounts: [
          { name: 'disk', mountPath: '/disk' },
          { name: 'memory', mountPath: '/memory' },
          { name: 'labels', mountPath: '/labels' },
          { name: 'host', mountPath: '/part', subPath: 'inner' },
          { name: 'made', mountPath: '/made' },
        ],
        startupProbe: { tcpSocket: { port: 80 } },
        readinessProbe: { httpGet: { port: 80, path: '/ready' } },
        livenessProbe: { grpc: { port: 80 } },
        lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { sleep: { seconds: 1 } } },
      },
      {
        name: 'exec',
        image: 'busybox',
        readinessProbe: { exec: { command: ['true'] } },
        lifecycle: { postStart: { exec: { command: ['true'] } } },
      },
    ],
  },
});
