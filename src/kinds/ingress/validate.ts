import { parseAddressSloppy } from '../../ip/address.ts';
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  dns1123Label,
  dns1123Subdomain,
  pathSegmentName,
  portName,
  portNumber,
  wildcardDns1123Subdomain,
} from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { ingressClassAnnotation } from '../../meta/well-known-annotations.ts';
import { invalidEach } from '../pod/field-rules.ts';
import type { TypedLocalObjectReference } from '../pod/references.ts';
import type { Ingress, IngressBackend, IngressPath, IngressRule, IngressTls } from './types.ts';

const notAnAddress = 'must be a DNS name, not an IP address';

export function validateIngressCreate(ingress: Ingress): readonly FieldError[] {
  const { ingressClassName } = ingress.spec;
  const annotation = ingress.metadata.annotations?.[ingressClassAnnotation];
  const differs =
    annotation !== undefined && ingressClassName !== undefined && annotation !== ingressClassName;
  return [
    ...validateIngress(ingress),
    ...(differs
      ? [
          invalid(
            `annotations.${ingressClassAnnotation}`,
            annotation,
            'must match `ingressClassName` when both are specified',
          ),
        ]
      : []),
  ];
}

export function validateIngress({ spec }: Ingress): readonly FieldError[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec;
  return [
    ...(rules.length === 0 && defaultBackend === undefined
      ? [invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')]
      : []),
    ...(defaultBackend === undefined ? [] : validateBackend(defaultBackend, 'spec.defaultBackend')),
    ...rules.flatMap((rule, index) => validateRule(rule, `spec.rules[${index}]`)),
    ...tls.flatMap((entry, index) => validateTls(entry, `spec.tls[${index}]`)),
    ...(ingressClassName === undefined
      ? []
      : invalidEach('spec.ingressClassName', ingressClassName, dns1123Subdomain(ingressClassName))),
  ];
}

/** Stored addresses pass even if not canonical. */
export function validateIngressStatus(before: Ingress, { status }: Ingress): readonly FieldError[] {
  const stored = (before.status.loadBalancer.ingress ?? []).map(({ ip }) => ip ?? '');
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip, hostname }, index) => {
    const at = `status.loadBalancer.ingress[${index}]`;
    return [
      ...(ip ? validateIPLegacy(`${at}.ip`, ip, stored) : []),
      ...(hostname
        ? [
            ...invalidEach(`${at}.hostname`, hostname, dns1123Subdomain(hostname)),
            ...(isAddress(hostname) ? [invalid(`${at}.hostname`, hostname, notAnAddress)] : []),
          ]
        : []),
    ];
  });
}

const isAddress = (text: string): boolean => parseAddressSloppy(text) !== undefined;

function validateHost(host: string, field: string): readonly FieldError[] {
  const rule = host.includes('*') ? wildcardDns1123Subdomain : dns1123Subdomain;
  return invalidEach(field, host, rule(host));
}

function validateTls({ hosts = [], secretName }: IngressTls, field: string): readonly FieldError[] {
  return [
    ...hosts.flatMap((host, index) => validateHost(host, `${field}.hosts[${index}]`)),
    ...(secretName
      ? invalidEach(`${field}.secretName`, secretName, dns1123Subdomain(secretName))
      : []),
  ];
}

function validateRule({ host = '', http }: IngressRule, field: string): readonly FieldError[] {
  const at = `${field}.http.paths`;
  const paths = http?.paths ?? [];
  return [
    ...(isAddress(host) ? [invalid(`${field}.host`, host, notAnAddress)] : []),
    ...(host === '' ? [] : validateHost(host, `${field}.host`)),
    ...(http !== undefined && paths.length === 0 ? [required(at)] : []),
    ...paths.flatMap((path, index) => validatePath(path, `${at}[${index}]`)),
  ];
}

function validatePath(path: IngressPath, field: string): readonly FieldError[] {
  if (path.pathType === undefined) {
    return [required(`${field}.pathType`, 'pathType must be specified')];
  }
  return [
    ...validatePathText(path.pathType, path.path ?? '', field),
    ...validateBackend(path.backend, `${field}.backend`),
  ];
}

function validatePathText(type: string, path: string, field: string): readonly FieldError[] {
  const at = `${field}.path`;
  const relative = path.startsWith('/') ? [] : [invalid(at, path, 'must be an absolute path')];
  switch (type) {
    case 'Exact':
    case 'Prefix':
      return [
        ...relative,
        ...['//', '/./', '/../', '%2f', '%2F']
          .filter((part) => path.includes(part))
          .map((part) => invalid(at, path, `must not contain '${part}'`)),
        ...['/..', '/.']
          .filter((end) => path.endsWith(end))
          .map((end) => invalid(at, path, `cannot end with '${end}'`)),
      ];
    case 'ImplementationSpecific':
      return path === '' ? [] : relative;
    default:
      return [
        notSupported(`${field}.pathType`, type, ['Exact', 'ImplementationSpecific', 'Prefix']),
      ];
  }
}

function validateBackend(backend: IngressBackend, field: string): readonly FieldError[] {
  const { service, resource } = backend;
  if (service !== undefined && resource !== undefined) {
    return [invalid(field, '', 'cannot set both resource and service backends')];
  }
  if (resource !== undefined) return validateReference(resource, `${field}.resource`);
  return service === undefined
    ? [invalid(field, '', 'resource or service backend is required')]
    : validateService(service, field);
}

function validateService(
  { name, port }: NonNullable<IngressBackend['service']>,
  field: string,
): readonly FieldError[] {
  const { name: portText = '', number = 0 } = port;
  const at = `${field}.service`;
  return [
    ...(name === ''
      ? [required(`${at}.name`)]
      : invalidEach(`${at}.name`, name, dns1123Label(name))),
    ...(portText !== '' && number !== 0
      ? [invalid(field, '', 'cannot set both port name & port number')]
      : portText !== ''
        ? invalidEach(`${at}.port.name`, portText, portName(portText))
        : number !== 0
          ? invalidEach(`${at}.port.number`, number, portNumber(number))
          : [required(field, 'port name or number is required')]),
  ];
}

/** References to objects whose kinds the server does not know. */
export function validateReference(
  { apiGroup, kind, name }: TypedLocalObjectReference,
  field: string,
): readonly FieldError[] {
  return [
    ...(apiGroup === undefined
      ? []
      : invalidEach(`${field}.apiGroup`, apiGroup, dns1123Subdomain(apiGroup))),
    ...(kind === ''
      ? [required(`${field}.kind`, 'kind is required')]
      : invalidEach(`${field}.kind`, kind, pathSegmentName(kind))),
    ...(name === ''
      ? [required(`${field}.name`, 'name is required')]
      : invalidEach(`${field}.name`, name, pathSegmentName(name))),
  ];
}
