// Warnings about Services; order and text are upstream's (pkg/api/service).
import { joined } from '../../meta/field-error.ts';
import { warningsForCIDR, warningsForIP } from '../../meta/validate-ip.ts';
import {
  topologyHintsAnnotation,
  topologyModeAnnotation,
} from '../../meta/well-known-annotations.ts';
import { isHeadless } from './needs.ts';
import { headlessIP, type Service } from './types.ts';

export function serviceWarnings(service: Service): readonly string[] {
  return joined([
    annotationWarnings(service),
    clusterIPWarnings(service),
    headlessWarnings(service),
    externalIPWarnings(service),
    loadBalancerWarnings(service),
    typeWarnings(service),
    distributionWarnings(service),
  ]);
}

export function statusWarnings({ status }: Service): readonly string[] {
  return (status.loadBalancer.ingress ?? []).flatMap(({ ip }, index) =>
    ip === undefined ? [] : warningsForIP(`status.loadBalancer.ingress[${index}]`, ip),
  );
}

function annotationWarnings({ metadata }: Service): readonly string[] {
  if (metadata.annotations?.[topologyHintsAnnotation] === undefined) return [];
  return [
    `annotation ${topologyHintsAnnotation} is deprecated, please use ${topologyModeAnnotation} instead`,
  ];
}

function clusterIPWarnings({ spec }: Service): readonly string[] {
  if (spec.clusterIP === undefined || spec.clusterIP === headlessIP) return [];
  return (spec.clusterIPs ?? []).flatMap((ip, i) => warningsForIP(`spec.clusterIPs[${i}]`, ip));
}

function headlessWarnings(service: Service): readonly string[] {
  if (!isHeadless(service)) return [];
  const { loadBalancerIP, externalIPs = [], sessionAffinity } = service.spec;
  const ignored = [
    ...(loadBalancerIP === undefined ? [] : ['loadBalancerIP']),
    ...(externalIPs.length === 0 ? [] : ['externalIPs']),
    ...(sessionAffinity === 'None' ? [] : ['SessionAffinity']),
  ];
  return ignored.map((field) => `spec.${field} is ignored for headless services`);
}

function externalIPWarnings(service: Service): readonly string[] {
  const { type, externalIPs = [] } = service.spec;
  const isUsed = externalIPs.length > 0 && !isHeadless(service) && type !== 'ExternalName';
  return [
    ...externalIPs.flatMap((ip, i) => warningsForIP(`spec.externalIPs[${i}]`, ip)),
    ...(isUsed
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : []),
  ];
}

function loadBalancerWarnings({ spec }: Service): readonly string[] {
  const { loadBalancerIP, loadBalancerSourceRanges: ranges = [] } = spec;
  return [
    ...(loadBalancerIP === undefined ? [] : warningsForIP('spec.loadBalancerIP', loadBalancerIP)),
    ...ranges.flatMap((range, i) => warningsForCIDR(`spec.loadBalancerSourceRanges[${i}]`, range)),
  ];
}

function typeWarnings({ spec }: Service): readonly string[] {
  const isExternalName = spec.type === 'ExternalName';
  return [
    ...(isExternalName && spec.externalIPs !== undefined
      ? ['spec.externalIPs is ignored when spec.type is "ExternalName"']
      : []),
    ...(!isExternalName && spec.externalName !== undefined
      ? ['spec.externalName is ignored when spec.type is not "ExternalName"']
      : []),
  ];
}

function distributionWarnings({ spec }: Service): readonly string[] {
  if (spec.trafficDistribution !== 'PreferClose') return [];
  return ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'];
}
