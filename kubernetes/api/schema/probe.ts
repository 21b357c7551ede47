import * as z from 'zod/mini';
import { enumStringSchema, intOrStringSchema } from './scalars.ts';

const execActionSchema = z.strictObject({ command: z.exactOptional(z.array(z.string())) });

const httpGetActionSchema = z.strictObject({
  path: z.exactOptional(z.string()),
  port: intOrStringSchema,
  host: z.exactOptional(z.string()),
  scheme: z.exactOptional(enumStringSchema<'HTTP' | 'HTTPS'>()),
  httpHeaders: z.exactOptional(z.array(z.strictObject({ name: z.string(), value: z.string() }))),
});

const tcpSocketActionSchema = z.strictObject({ port: intOrStringSchema, host: z.exactOptional(z.string()) });

/** Schema of a probe, which has exactly one of exec, httpGet, tcpSocket and grpc. */
export const probeSchema = z.strictObject({
  exec: z.exactOptional(execActionSchema),
  httpGet: z.exactOptional(httpGetActionSchema),
  tcpSocket: z.exactOptional(tcpSocketActionSchema),
  grpc: z.exactOptional(z.strictObject({ port: z.int32(), service: z.exactOptional(z.string()) })),
  initialDelaySeconds: z.exactOptional(z.int32()),
  timeoutSeconds: z.exactOptional(z.int32()),
  periodSeconds: z.exactOptional(z.int32()),
  successThreshold: z.exactOptional(z.int32()),
  failureThreshold: z.exactOptional(z.int32()),
  terminationGracePeriodSeconds: z.exactOptional(z.int()),
});

export type Probe = z.infer<typeof probeSchema>;

const lifecycleHandlerSchema = z.strictObject({
  exec: z.exactOptional(execActionSchema),
  httpGet: z.exactOptional(httpGetActionSchema),
  tcpSocket: z.exactOptional(tcpSocketActionSchema),
  sleep: z.exactOptional(z.strictObject({ seconds: z.int() })),
});

export type LifecycleHandler = z.infer<typeof lifecycleHandlerSchema>;

/** Parses the lifecycle hook in a container's annotation. Returns undefined if the annotation is malformed. */
export function readHandler(json: string): LifecycleHandler | undefined {
  try {
    return lifecycleHandlerSchema.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** Schema of a container's lifecycle hooks and its stop signal. */
export const lifecycleSchema = z.strictObject({
  postStart: z.exactOptional(lifecycleHandlerSchema),
  preStop: z.exactOptional(lifecycleHandlerSchema),
  stopSignal: z.exactOptional(z.string()),
});
