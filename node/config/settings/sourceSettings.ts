import * as z from 'zod/mini';
import { booleanSchema, durationSchema, enumSchema, pathSchema, stringSchema } from '../fields/fields.ts';
import { headersFieldSchema, headersFlagSchema, manifestUrlSchema } from '../fields/urlFields.ts';
import { declareSettings } from './setting.ts';

/** Settings of the configuration file itself, i.e. its API version, its kind and its path. */
export const fileSettings = () =>
  declareSettings({
    apiVersion: {
      type: enumSchema('kubelet.config.k8s.io/v1beta1'),
      isRequired: true,
      default: 'kubelet.config.k8s.io/v1beta1',
      effect: '`{default}`',
    },
    kind: {
      type: enumSchema('KubeletConfiguration'),
      isRequired: true,
      default: 'KubeletConfiguration',
      effect: '`{default}`',
    },
    '--config': {
      type: pathSchema,
      flag: { argument: '<file>', help: 'KubeletConfiguration file in YAML or JSON; flags take precedence over it' },
    },
  });

/** Settings for pod sources other than a cluster, and for their polling intervals. */
export const sourceSettings = () =>
  declareSettings({
    staticPodPath: {
      type: stringSchema,
      isPath: true,
      effect: 'a directory of pod manifests, or a single manifest',
      flag: {
        name: '--pod-manifest-path',
        argument: '<path>',
        type: pathSchema,
        help: 'directory of the pod manifests to run, or a single manifest file (default: {default})',
        upDefault: "the package's examples",
      },
    },
    fileCheckFrequency: {
      type: durationSchema(),
      default: '20s',
      effect: 'the interval at which all manifests are listed, in addition to changes reported by inotify ({default})',
      unsupportedFlag: '--file-check-frequency',
    },
    staticPodURL: {
      type: manifestUrlSchema,
      isSecret: true,
      effect: 'the URL of a Pod or PodList; if a request fails, the last valid response is used',
      flag: {
        name: '--manifest-url',
        argument: '<url>',
        help: 'URL of a Pod or PodList to run, in YAML or JSON (default: {default})',
        emptyIsUnset: true,
      },
    },
    staticPodURLHeader: {
      type: headersFieldSchema,
      isSecret: true,
      effect: 'the HTTP headers of requests to this URL',
      flag: {
        name: '--manifest-url-header',
        argument: '<headers>',
        type: headersFlagSchema,
        help: 'HTTP headers of requests to --manifest-url, e.g. name:value,other:value; can be repeated',
        repeats: true,
      },
    },
    httpCheckFrequency: {
      type: durationSchema(),
      default: '20s',
      effect: 'the interval at which the URL is polled ({default})',
      unsupportedFlag: '--http-check-frequency',
    },
    '--lenient-manifests': {
      type: booleanSchema,
      default: false,
      flag: {
        help: 'accept static pods that refer to API objects without which they can run: optional Secrets and ConfigMaps, imagePullSecrets',
      },
    },
  });

/** Settings for what a command does in addition to running the node. */
export const commandSettings = () =>
  declareSettings({
    runOnce: {
      type: booleanSchema,
      default: false,
      effect: 'like `--runonce`',
      flag: {
        name: '--runonce',
        command: 'run',
        help: 'start the pods once, wait until each is running or has terminated, print the results, and exit without stopping the pods',
      },
    },
    '--take-over': {
      type: z.enum(['list', 'now'], { error: 'expected "list" or "now"' }),
      flag: {
        argument: '<how>',
        command: 'run',
        help: 'action for pods that a kubelet left below --root-dir: "list" prints what a take-over would remove, and exits; "now" adopts the pods that are in the manifests and removes the others (default: ignore these pods)',
      },
    },
  });
