#!/bin/sh
# Starts the program of an unpacked image as a container engine does: its user, a root that cannot be written, a writable
# /data, no network but loopback. Then it asks a server by name, over TLS. Runs in name spaces of its own, as root. $1: the
# unpacked root; $2: "static", or "dynamic" for a development build, which gets the libraries of this machine.
set -eu
root=$1
here=$(dirname "$(readlink -f "$0")")
ip link set lo up

work=$(mktemp -d)
mkdir -m 700 "$work/data"
chown 65532:65532 "$work/data"
echo 'nameserver 127.0.0.1' > "$root/etc/resolv.conf"
mount --bind "$root" "$root"
mount --bind "$work/data" "$root/data"
if [ "$2" = dynamic ]; then
    for folder in lib lib64 usr/lib; do
        mkdir -p "$root/$folder"
        mount --bind "/$folder" "$root/$folder"
    done
fi
mount -o remount,bind,ro "$root"

fail() {
    echo "$1"
    [ ! -e "$work/log" ] || cat "$work/log"
    exit 1
}
as_latchkey() {
    chroot --userspec=65532:65532 "$root" /usr/bin/latchkey "$@"
}
# Waits until a command succeeds.
until_it() {
    tries=0
    until "$@" > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 150 ] || fail "in vain: $*"
        sleep 0.2
    done
}

secret=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export LATCHKEY__SERVER__BIND=0.0.0.0:8700 LATCHKEY__DATA__DIR=/data \
    LATCHKEY__SERVER__MODE=production LATCHKEY__SERVER__PUBLIC_URL=https://accounts.example.com \
    LATCHKEY__SERVER__SECRET="$secret" LATCHKEY__ADMIN__API_KEY="admin_$secret" \
    LATCHKEY__MAIL__TRANSPORT=file LATCHKEY__MAIL__DIR=/data/mails LATCHKEY__STORAGE__CREATE=true
chroot --userspec=65532:65532 "$root" /usr/bin/latchkey > "$work/log" 2>&1 &
service=$!
until_it as_latchkey health
owner=$(stat -c %u:%g:%a "$work/data/latchkey.db")
! as_latchkey man --out /etc/man 2> /dev/null || fail "the root can be written"
kill -TERM "$service"
wait "$service" || fail "the service ended with $?"
echo "ready as 65532 on a root that cannot be written, database $owner, stopped with 0"

quietly() { "$@" > "$work/log" 2>&1 || fail "$1 failed"; }
cd "$work"
quietly openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj "/CN=Trial CA" -keyout ca.key \
    -out data/ca.pem
quietly openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=accounts.example.com -keyout site.key \
    -out site.csr
echo 'subjectAltName=DNS:accounts.example.com' > names
quietly openssl x509 -req -in site.csr -CA data/ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile names -out site.pem
node "$here/names.mjs" site.key site.pem > "$work/log" 2>&1 &
names=$!
until_it as_latchkey health https://accounts.example.com:8443 --ca-file /data/ca.pem
refused() {
    reason=$1
    shift
    ! as_latchkey "$@" > "$work/log" 2>&1 || fail "$* is accepted"
    grep -q "$reason" "$work/log" || fail "$* is not refused for $reason"
}
refused UnknownIssuer health https://accounts.example.com:8443
refused 'not valid for name' health https://other.example.com:8443 --ca-file /data/ca.pem
refused 'lookup' health https://nowhere.example.com:8443
kill "$names"
echo "a name is resolved; a certificate of an unknown issuer and one of another name are refused"
