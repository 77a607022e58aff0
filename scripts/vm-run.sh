#!/bin/bash
# scripts/vm-run.sh COMMAND [ARGUMENT...]
#
# Runs a command as root under a Debian cloud kernel, in a virtual machine without network: for what the kernel of a
# build machine has not (IPVS, SCTP, dummy interfaces). The machine sees the host's files as they are and writes into
# memory only; directory and environment are the caller's. Output and exit code are the command's; 125 says that the
# machine itself failed. Software emulation is ten to twenty times slower than the host: start it once for a whole suite.
#
#   VM_WRITABLE   directories, separated by colons, whose changes stay on the host
#   VM_MEMORY     2G
#   VM_SECONDS    1800, after which the machine is given up
#   VM_CACHE      /var/cache/fairlead-vm, where the kernel is kept
#
# Needs root, qemu-system-x86, kmod, and apt for the first run.
set -euo pipefail

cache=${VM_CACHE:-/var/cache/fairlead-vm}
memory=${VM_MEMORY:-2G}
writable=${VM_WRITABLE:-}
export VM_WRITABLE=$writable

for program in qemu-system-x86_64 depmod unshare setpriv; do
  command -v "$program" >/dev/null || { echo "vm-run: $program is not installed" >&2; exit 125; }
done

# The kernel's package is unpacked and not installed. A lock, for two may start at once.
fetch_kernel() {
  local package place
  apt-get -qq update
  package=$(apt-cache depends linux-image-6.12-cloud-amd64 | awk '/Depends: linux-image/ { print $2; exit }')
  place=$(mktemp -d "$cache.XXXXXX")
  (
    cd "$place"
    apt-get -qq -o APT::Sandbox::User=root download "$package"
    dpkg-deb -x ./*.deb .
    rm ./*.deb
  )
  depmod -b "$place" "$(ls "$place/lib/modules")"
  touch "$place/complete"
  rm -rf "$cache"
  mv "$place" "$cache"
}
mkdir -p "$(dirname "$cache")"
exec 9>"$cache.lock"
flock 9
[ -e "$cache/complete" ] || fetch_kernel >&2
exec 9>&-

work=$(mktemp -d /tmp/fairlead-vm.XXXXXX)
files='' machine=''
clean_up() {
  for process in $machine $files; do kill "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

{
  export -p
  # Emulation translates code that is made at run time again and again: Node is started in a third of the time without.
  printf 'export NODE_OPTIONS=%q\n' "${NODE_OPTIONS:-} --jitless"
  printf 'cd %q\n' "$PWD"
  printf '%q ' "$@"
  echo
} >"$work/command"

# The first process of the machine: the host's root below, memory above, then the command.
cat >"$work/init" <<INIT
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec 2>/dev/ttyS0
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
modprobe -d $cache overlay
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
cd /mnt/root
mount -t devtmpfs dev dev
mkdir -p dev/pts dev/shm lib/modules
mount -t devpts devpts dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t bpf bpf sys/fs/bpf
mount -t tmpfs tmpfs run
mkdir -p run/lock
mount --bind $cache/lib/modules lib/modules
for directory in ${writable//:/ }; do
  mkdir -p ".\$directory"
  mount --bind "\$directory" ".\$directory"
done
pivot_root . mnt
cd /
ip link set lo up
ln -sf /proc/self/fd /dev/fd
ln -sf fd/0 /dev/stdin
ln -sf fd/1 /dev/stdout
ln -sf fd/2 /dev/stderr
for port in /sys/class/virtio-ports/*; do declare "\$(cat \$port/name)=/dev/\${port##*/}"; done
(. $work/command) </dev/null >\$output 2>\$errors
echo \$? >\$code
sync
echo o >/proc/sysrq-trigger
sleep 60
INIT
chmod +x "$work/init"

# Serves the host's files to the machine, from a mount namespace in which all but the writable ones are read-only.
unshare -m --propagation private bash -c '
  for directory in "$0" ${VM_WRITABLE//:/ }; do mount --bind "$directory" "$directory"; done
  mount -t tmpfs tmpfs /run
  mount -o remount,bind,ro /
  exec setpriv --pdeathsig TERM /usr/lib/qemu/virtiofsd --socket-path="$0/files" \
    -o source=/ -o sandbox=chroot -o cache=always -o log_level=err
' "$work" >"$work/files.log" 2>&1 &
files=$!
for _ in {1..200}; do
  [ -S "$work/files" ] && break
  sleep 0.05
done

exec 7>&1 8>&2
setpriv --pdeathsig TERM timeout "${VM_SECONDS:-1800}" qemu-system-x86_64 \
  -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m "$memory" \
  -object "memory-backend-memfd,id=memory,size=$memory,share=on" -numa node,memdev=memory \
  -nodefaults -nic none -display none -no-reboot -serial "file:$work/console.log" \
  -chardev "socket,id=files,path=$work/files" -device vhost-user-fs-pci,chardev=files,tag=host \
  -device virtio-serial-pci -add-fd fd=7,set=1 -add-fd fd=8,set=2 \
  -chardev file,id=output,path=/dev/fdset/1,append=on -device virtserialport,chardev=output,name=output \
  -chardev file,id=errors,path=/dev/fdset/2,append=on -device virtserialport,chardev=errors,name=errors \
  -chardev "file,id=code,path=$work/code" -device virtserialport,chardev=code,name=code \
  -kernel "$(echo "$cache"/boot/vmlinuz-*)" \
  -append "root=host rootfstype=virtiofs rw init=$work/init console=ttyS0 quiet panic=-1 mitigations=off no5lvl" \
  </dev/null >"$work/machine.log" 2>&1 &
machine=$!
wait "$machine" || true

if [ ! -s "$work/code" ]; then
  tail -n 40 "$work/console.log" "$work/files.log" "$work/machine.log" >&2 || true
  # Emulated processors break the machine's kernel once in a while: it gets a second chance, and what was seen is told.
  if [ -z "${VM_AGAIN:-}" ] && grep -q 'Kernel panic' "$work/console.log"; then
    echo 'vm-run: the kernel of the machine panicked; once more' >&2
    clean_up
    VM_AGAIN=1 exec "$0" "$@"
  fi
  exit 125
fi
exit "$(cat "$work/code")"
