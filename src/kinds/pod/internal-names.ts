// How Kubernetes names the fields of a pod in memory, where that is not the client's name with a capital.
import { goFieldNames } from './go-names.ts';

/** Go's name of a field: the client's with a capital, but for abbreviations and a few that have other names. */
export function goName(struct: string, field: string): string {
  return (
    otherNames[`${struct}.${field}`] ??
    abbreviations[field] ??
    field.charAt(0).toUpperCase() + field.slice(1)
  );
}

/** As in the API's types, but for those of the types in memory. */
const abbreviations: Readonly<Record<string, string>> = {
  ...goFieldNames,
  apiGroup: 'APIGroup',
  serviceAccount: 'ServiceAccount',
};

const otherNames: Readonly<Record<string, string>> = {
  'AzureDiskVolumeSource.diskURI': 'DataDiskURI',
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'ISCSIVolumeSource.chapAuthDiscovery': 'DiscoveryCHAPAuth',
  'ISCSIVolumeSource.chapAuthSession': 'SessionCHAPAuth',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.pool': 'RBDPool',
  'RBDVolumeSource.user': 'RadosUser',
};
