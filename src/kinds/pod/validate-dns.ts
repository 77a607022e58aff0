// Hostname, host aliases and DNS configuration.
import { type FieldError, forbidden, invalid, required } from '../../meta/field-error.ts';
import {
  dns1123Label,
  dns1123Subdomain,
  dns1123SubdomainWithUnderscore,
} from '../../meta/names.ts';
import { validateIPLegacy } from '../../meta/validate-ip.ts';
import { invalidEach } from './field-rules.ts';
import type { PodDnsConfig, PodSpec } from './pod-spec.ts';

// Limits of resolv.conf.
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchLength = 2048;
const maxHostnameLength = 64;

export function validateDnsConfig(spec: PodSpec, field: string): readonly FieldError[] {
  const config = spec.dnsConfig;
  if (spec.dnsPolicy === 'None') {
    if (config === undefined) {
      return [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    }
    if ((config.nameservers ?? []).length === 0) {
      const detail = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(`${field}.nameservers`, detail)];
    }
  }
  return config === undefined ? [] : validateConfig(config, field);
}

function validateConfig(config: PodDnsConfig, field: string): readonly FieldError[] {
  const { nameservers = [], searches = [], options = [] } = config;
  return [
    ...(nameservers.length > maxNameservers
      ? [
          invalid(
            `${field}.nameservers`,
            nameservers,
            `must not have more than ${maxNameservers} nameservers`,
          ),
        ]
      : []),
    ...nameservers.flatMap((address, index) =>
      validateIPLegacy(`${field}.nameservers[${index}]`, address),
    ),
    ...validateSearches(searches, `${field}.searches`),
    ...options.flatMap(({ name }, index) =>
      name ? [] : [required(`${field}.options[${index}]`, 'must not be empty')],
    ),
  ];
}

function validateSearches(searches: readonly string[], field: string): readonly FieldError[] {
  const tooLong = `must not have more than ${maxSearchLength} characters (including spaces) in the search list`;
  return [
    ...(searches.length > maxSearches
      ? [invalid(field, searches, `must not have more than ${maxSearches} search paths`)]
      : []),
    ...(searches.join(' ').length > maxSearchLength ? [invalid(field, searches, tooLong)] : []),
    ...searches.flatMap((search, index) => {
      if (search === '.') return [];
      const domain = search.replace(/\.$/, '');
      return invalidEach(`${field}[${index}]`, domain, dns1123SubdomainWithUnderscore(domain));
    }),
  ];
}

export function validateHostnames(spec: PodSpec, field: string): readonly FieldError[] {
  const { hostname = '', subdomain = '' } = spec;
  return [
    ...(hostname === '' ? [] : invalidEach(`${field}.hostname`, hostname, dns1123Label(hostname))),
    ...(subdomain === ''
      ? []
      : invalidEach(`${field}.subdomain`, subdomain, dns1123Label(subdomain))),
  ];
}

export function validateHostnameOverride(spec: PodSpec, field: string): readonly FieldError[] {
  const name = spec.hostnameOverride;
  if (name === undefined) return [];
  const tooLong = `must be no more than ${maxHostnameLength} characters`;
  return [
    ...(spec.setHostnameAsFQDN
      ? [forbidden(field, 'may not be specified when setHostnameAsFQDN is true')]
      : []),
    ...(spec.hostNetwork
      ? [forbidden(field, 'may not be specified when hostNetwork is true')]
      : []),
    ...(name.length > maxHostnameLength ? [invalid(field, name, tooLong)] : []),
    ...invalidEach(field, name, dns1123Subdomain(name)),
  ];
}

export function validateHostAliases(spec: PodSpec, field: string): readonly FieldError[] {
  return (spec.hostAliases ?? []).flatMap(({ ip, hostnames = [] }, index) => [
    ...validateIPLegacy(`${field}[${index}].ip`, ip),
    ...hostnames.flatMap((name, at) =>
      invalidEach(`${field}[${index}].hostnames[${at}]`, name, dns1123Subdomain(name)),
    ),
  ]);
}
