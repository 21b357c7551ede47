import * as z from 'zod/mini';
import { booleanSchema, durationSchema, enumSchema, path, stringSchema } from '../fields.ts';
import { headersField, headersFlag, manifestUrl } from '../urlFields.ts';
import { declareSettings } from './setting.ts';

/** Setting of the configuration file itself. */
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
      type: path,
      flag: { argument: '<file>', help: 'a KubeletConfiguration file, YAML or JSON; flags take precedence' },
    },
  });

/** Settings of the sources of pods other than a cluster, and of the intervals at which they are read. */
export const sourceSettings = () =>
  declareSettings({
    staticPodPath: {
      type: stringSchema,
      isPath: true,
      effect: 'a directory of manifests, or one manifest',
      flag: {
        name: '--pod-manifest-path',
        argument: '<path>',
        type: path,
        help: 'directory of the pod manifests to run, or a single manifest file (default: {default})',
        upDefault: "the package's examples",
      },
    },
    fileCheckFrequency: {
      type: durationSchema(),
      default: '20s',
      effect: 'how often all manifests are listed, beside what inotify reports ({default})',
      unsupportedFlag: '--file-check-frequency',
    },
    staticPodURL: {
      type: manifestUrl,
      isSecret: true,
      effect: 'a URL that answers with a Pod or a PodList; its last good answer stands',
      flag: {
        name: '--manifest-url',
        argument: '<url>',
        help: 'URL of the pods to run: a Pod or a PodList, YAML or JSON (default: {default})',
        emptyIsUnset: true,
      },
    },
    staticPodURLHeader: {
      type: headersField,
      isSecret: true,
      effect: 'headers for that request',
      flag: {
        name: '--manifest-url-header',
        argument: '<headers>',
        type: headersFlag,
        help: 'HTTP headers for --manifest-url, as name:value,other:value; may be repeated',
        repeats: true,
      },
    },
    httpCheckFrequency: {
      type: durationSchema(),
      default: '20s',
      effect: 'how often the URL is asked ({default})',
      unsupportedFlag: '--http-check-frequency',
    },
    '--lenient-manifests': {
      type: booleanSchema,
      default: false,
      flag: {
        help: 'accept pods that refer to API objects they can run without: optional Secrets and ConfigMaps, imagePullSecrets',
      },
    },
  });

/** Settings of tasks that a command performs besides running the node. */
export const commandSettings = () =>
  declareSettings({
    runOnce: {
      type: booleanSchema,
      default: false,
      effect: 'as `--runonce`',
      flag: {
        name: '--runonce',
        command: 'run',
        help: 'start the pods once, wait until each is running or has terminated, report, and exit, leaving them running',
      },
    },
    '--take-over': {
      type: z.enum(['list', 'now'], { error: 'expected "list" or "now"' }),
      flag: {
        argument: '<how>',
        command: 'run',
        help: 'what to do with pods that a kubelet left below --root-dir: list prints what a take-over would remove, and exits; now adopts the pods that are in the manifests and removes the others (default: leave them alone)',
      },
    },
  });
