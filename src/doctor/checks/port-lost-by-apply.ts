import type { Service, ServicePort } from '../../kinds/service/types.ts';
import { lastAppliedAnnotation } from '../../meta/well-known-annotations.ts';
import { isJsonObject } from '../../schema/json-object.ts';
import type { ServiceCheck } from '../check.ts';
import { listText, objectName } from '../object-names.ts';

export const portLostByApply: ServiceCheck = {
  code: 'FL0206',
  severity: 'error',
  title: 'A port was lost by kubectl apply',
  scope: 'service',
  needs: ['services'],
  find({ service }) {
    const applied = appliedPorts(service);
    const present = service.spec.ports ?? [];
    const has = (all: readonly AppliedPort[], { port, protocol }: AppliedPort): boolean =>
      all.some((one) => one.port === port && (one.protocol ?? 'TCP') === (protocol ?? 'TCP'));
    const lost = applied.filter(
      (one) => !has(present, one) && present.some(({ port }) => port === one.port),
    );
    if (lost.length === 0) return [];
    const texts = lost.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`);
    const { namespace = 'default' } = service.metadata;
    const target = objectName(service);
    const ports = [...present, ...lost.map(withTarget)];
    return [
      {
        message: `The Service lacks ${listText(texts)}, which was applied: kubectl merges ports by number alone, so of two protocols with one number only one is left`,
        evidence: [
          {
            object: target,
            field: `metadata.annotations[${lastAppliedAnnotation}]`,
            value: applied.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', '),
          },
          {
            object: target,
            field: 'spec.ports',
            value: present.map(({ port, protocol = 'TCP' }) => `${port}/${protocol}`).join(', '),
          },
        ],
        fix: {
          sentence: `Add it again, and from then on apply with kubectl apply --server-side -n ${namespace}, which knows both keys`,
          patch: { target, type: 'merge', body: { spec: { ports } } },
        },
      },
    ];
  },
};

type AppliedPort = Partial<ServicePort> & { readonly port: number };

/** Longer annotations are not of a Service that a person wrote. */
const maxLength = 262_144;

function appliedPorts({ metadata }: Service): readonly AppliedPort[] {
  const text = metadata.annotations?.[lastAppliedAnnotation] ?? '';
  if (text === '' || text.length > maxLength) return [];
  const applied = parsed(text);
  const spec = isJsonObject(applied) ? applied.spec : undefined;
  const ports = isJsonObject(spec) && Array.isArray(spec.ports) ? spec.ports : [];
  return ports.filter(
    (port): port is AppliedPort => isJsonObject(port) && typeof port.port === 'number',
  );
}

/** Anyone may write the annotation. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function withTarget({
  name,
  protocol = 'TCP',
  port,
  targetPort = port,
  nodePort,
  appProtocol,
}: AppliedPort): ServicePort {
  return {
    ...(name === undefined ? {} : { name }),
    protocol,
    port,
    targetPort,
    ...(nodePort === undefined ? {} : { nodePort }),
    ...(appProtocol === undefined ? {} : { appProtocol }),
  };
}
